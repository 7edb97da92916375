"""Why a job that has not ended is where it is: a function per phase, from the record and a few facts to reasons.

Nothing is read here. A job that is ready is told of in `client.turns`, one that has ended in `client.ends`.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from detent.client.reasons import Facts, Reason, because, brief, losses
from detent.client.serving import unjudged
from detent.client.spoken import between
from detent.client.turns import turns_of
from detent.client.views import Job
from detent.kernel.budget import is_waiting_for_a_person

LATE: Final = timedelta(seconds=2)  # what is due for longer, nobody seems to look after
# What stops a job or takes it, and what time asks for by itself: none of it is the signal that a parked job waits for.
_NO_SIGNAL: Final = frozenset({"cancel", "request_cancel", "claim", "expire", "time_out"})


def stays_of(job: Job, facts: Facts) -> list[Reason]:
    """Of a job that has not ended."""
    found = {"ready": turns_of, "parked": _parked, "held": _leased, "active": _leased}[job.phase]
    return [*_neglected(job, facts), *found(job, facts), *_limited(job)]


def _parked(job: Job, facts: Facts) -> Iterator[Reason]:
    if job.due_at is not None:
        text = f"{_set_aside(job, facts)}the reconciler puts it back into its queue"
        yield Reason("waits_to_be_requeued", text, job.updated_at, job.due_at)
    elif is_waiting_for_a_person(job.record):
        text = f"{_set_aside(job, facts)}its attempts are used up ({losses(job)})"
        yield Reason("budget_used_up", f"{text}, and it waits for a person to requeue it", job.updated_at)
    elif "schedule" in facts.lifecycle.table.allowed[job.state]:
        yield unjudged(job, facts)
    elif verbs := sorted(set(facts.lifecycle.table.allowed[job.state]) - _NO_SIGNAL):
        yield Reason("waits_for_a_signal", f"it waits until somebody asks for {' or '.join(verbs)}", job.updated_at)
    if job.claim_at is not None:
        yield Reason("reclaimable", "a worker may also claim it as it is", since=job.claim_at)


def _set_aside(job: Job, facts: Facts) -> str:
    """What ended its last attempt. Whoever stalls a job may have had a reason that is no error."""
    attempt = f"attempt {job.attempt} with '{job.last_owner}'"
    if facts.last.verb == "stall":
        return f"{attempt} was set aside by {facts.last.actor}{because(facts.last)}; "
    return "" if job.last_error is None else f"{attempt} was lost ({brief(job.last_error)}); "


def _leased(job: Job, facts: Facts) -> Iterator[Reason]:
    yield from _unheard_of(job, facts)
    yield _lease(job, facts)
    if job.cancel_by is not None and facts.stop_asked is not None:
        asked = facts.stop_asked
        text = f"{asked.actor} asked it to stop{because(asked)}; it is cancelled when the grace is over"
        yield Reason("cancel_requested", text, asked.at, job.cancel_by)
    if job.progress is not None:
        yield Reason("progress", f"{job.progress.fraction:.0%} done {job.progress.message}".rstrip())


def _unheard_of(job: Job, facts: Facts) -> Iterator[Reason]:
    by, lease_end = job.heartbeat_by, job.lease_expires_at
    if by is None or lease_end is None:
        return
    if by <= facts.now:
        text = f"worker '{job.owner}' has missed its heartbeats and may be gone; the reconciler takes the job back"
        yield Reason("orphaned", text, since=by)
    elif by < lease_end:
        text = "is to be heard of before it misses its second heartbeat in a row, or it loses the job"
        yield Reason("heartbeat_limit", f"worker '{job.owner}' {text}", until=by)


def _lease(job: Job, facts: Facts) -> Reason:
    is_running, end = job.phase == "active", job.lease_expires_at
    if end is not None and end <= facts.now:
        had = f"worker '{job.owner}' had attempt {job.attempt}{'' if is_running else ', claimed but not started'}"
        return Reason("lease_over", f"{had}; its lease ran out {between(end, facts.now)} ago", since=end)
    what = f"runs attempt {job.attempt}" if is_running else f"holds attempt {job.attempt}, claimed but not started,"
    since = job.started_at if is_running else job.claimed_at
    return Reason("leased", f"worker '{job.owner}' {what} under its lease", since, end)


def _limited(job: Job) -> Iterator[Reason]:
    if job.deadline_at is not None:
        yield Reason("time_limit", f"its time in '{job.state}' is limited", until=job.deadline_at)


def _neglected(job: Job, facts: Facts) -> Iterator[Reason]:
    """Time has asked for something, and nobody has done it: most likely no reconciler runs. This goes before all."""
    if job.wake_at is not None and job.wake_at + LATE < facts.now:
        text = "the reconciler should have acted on it, and none has; is one running?"
        yield Reason("overdue", text, since=job.wake_at)
