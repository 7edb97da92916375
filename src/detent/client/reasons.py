"""Why a job is where it is: a function per phase, from the record and a few facts to reasons. Nothing is read here.

Why a job has ended is told in `client.ends`.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct, field

from detent.client.views import Event, Job
from detent.kernel import Error
from detent.kernel.budget import is_waiting_for_a_person
from detent.lifecycle import Lifecycle

LATE: Final = timedelta(seconds=2)  # what is due for longer, nobody seems to look after
# What stops a job or takes it, and what time asks for by itself: none of it is the signal that a parked job waits for.
_NO_SIGNAL: Final = frozenset({"cancel", "request_cancel", "claim", "expire", "time_out"})


class Reason(Struct, frozen=True, omit_defaults=True):
    """`code` is stable, `text` is for people. `since` and `until` bound it in time, as far as the record knows."""

    code: str
    text: str
    since: datetime | None = None
    until: datetime | None = None


class Facts(Struct):
    """What the record of the job does not say by itself. `stop_asked` is the last request to cancel it."""

    now: datetime
    lifecycle: Lifecycle
    last: Event
    stop_asked: Event | None = None
    queue_claim: Event | None = None
    kind_claim: Event | None = None
    looked_back_to: datetime | None = None
    waiting: int = 0
    reruns: list[str] = field(default_factory=list)


def reasons_of(job: Job, facts: Facts) -> list[Reason]:
    """Of a job that has not ended."""
    found = {"ready": _ready, "parked": _parked, "held": _leased, "active": _leased}[job.phase]
    return [*_neglected(job, facts), *found(job, facts), *_limited(job)]


def _ready(job: Job, facts: Facts) -> Iterator[Reason]:
    if job.claim_at is None:
        text = f"rule '{job.rule}' holds it until somebody approves or denies it"
        yield Reason("held_by_policy", text, job.updated_at)
    elif job.claim_at > facts.now:
        yield _not_due(job)
    else:
        yield _claimable(job, job.claim_at, facts)
        yield from _taken_by_few(job)


def _not_due(job: Job) -> Reason:
    if job.verdict == "throttle":
        return Reason("throttled", f"rule '{job.rule}' throttles it", job.updated_at, job.claim_at)
    if job.last_error is not None and job.attempt:
        text = f"attempt {job.attempt} was lost ({described(job.last_error)}); it waits before the next"
        return Reason("retry_later", text, job.updated_at, job.claim_at)
    return Reason("not_due", "it is to run later", job.created_at, job.claim_at)


def _claimable(job: Job, due: datetime, facts: Facts) -> Reason:
    queue, claimed = f"queue '{job.queue}'", facts.queue_claim
    if claimed is None:
        ever = "ever claimed from" if facts.looked_back_to is None else "claimed, as far back as was looked, from"
        text = f"no worker has {ever} {queue}; is one running that serves it?"
        return Reason("no_claim", text, facts.looked_back_to or due)
    if claimed.at < due:
        text = f"no worker has claimed from {queue} since it became due; the last to claim was '{claimed.worker}'"
        return Reason("no_claim", text, claimed.at)
    ready = f"{facts.waiting:,} ready in {queue}"
    if facts.kind_claim is None or facts.kind_claim.at < due:
        text = (
            f"workers claim from {queue}, '{claimed.worker}' last, but no job of kind '{job.kind}' since it became due"
        )
        return Reason("kind_not_served", f"{text}; does one serve this kind, or do others go first, of {ready}?", due)
    return Reason("waits_its_turn", f"it waits for its turn, one of {ready}; '{claimed.worker}' claimed last", due)


def _taken_by_few(job: Job) -> Iterator[Reason]:
    if job.adapter_id is not None:
        yield Reason("adapter", f"only a worker that asks for adapter '{job.adapter_id}' takes it")
    if job.last_error is not None and job.attempt:
        yield Reason("last_loss", f"attempt {job.attempt} was lost: {described(job.last_error)}")


def _parked(job: Job, facts: Facts) -> Iterator[Reason]:
    if job.due_at is not None:
        why = f"attempt {job.attempt} was lost ({described(job.last_error)}); " if job.last_error is not None else ""
        yield Reason("waits_to_be_requeued", f"{why}it goes back into its queue by itself", job.updated_at, job.due_at)
    elif is_waiting_for_a_person(job.record):
        text = f"its attempts are used up ({losses(job)}), and it waits for a person to requeue it"
        yield Reason("budget_used_up", text, job.updated_at)
    elif verbs := sorted(set(facts.lifecycle.table.allowed[job.state]) - _NO_SIGNAL):
        yield Reason("waits_for_a_signal", f"it waits until somebody asks for {' or '.join(verbs)}", job.updated_at)
    if job.claim_at is not None:
        yield Reason("reclaimable", "a worker may also claim it as it is", since=job.claim_at)


def _leased(job: Job, facts: Facts) -> Iterator[Reason]:
    if job.heartbeat_by is not None and job.heartbeat_by <= facts.now:
        text = f"worker '{job.owner}' has missed its heartbeats and may be gone; the reconciler takes the job back"
        yield Reason("orphaned", text, since=job.heartbeat_by)
    is_running = job.phase == "active"
    what = f"runs attempt {job.attempt}" if is_running else f"holds attempt {job.attempt}, claimed but not started,"
    since = job.started_at if is_running else job.claimed_at
    yield Reason("leased", f"worker '{job.owner}' {what} under its lease", since, job.lease_expires_at)
    if job.cancel_by is not None and facts.stop_asked is not None:
        asked = facts.stop_asked
        text = f"{asked.actor} asked it to stop{because(asked)}; it is cancelled when the grace is over"
        yield Reason("cancel_requested", text, asked.at, job.cancel_by)
    if job.progress is not None:
        yield Reason("progress", f"{job.progress.fraction:.0%} done {job.progress.message}".rstrip())


def _limited(job: Job) -> Iterator[Reason]:
    if job.deadline_at is not None:
        yield Reason("time_limit", f"its time in '{job.state}' is limited", until=job.deadline_at)


def _neglected(job: Job, facts: Facts) -> Iterator[Reason]:
    """Time has asked for something, and nobody has done it: most likely no reconciler runs. This goes before all."""
    if job.wake_at is not None and job.wake_at + LATE < facts.now:
        text = "the reconciler should have acted on it, and none has; is one running?"
        yield Reason("overdue", text, since=job.wake_at)


def described(error: Error) -> str:
    """`TransientError: scanner is busy (exhausted_retries, stage exec)`."""
    said = f"{error.type}: {error.message}" if error.message else error.type
    more = [error.reason_code, error.stage and f"stage {error.stage}"]
    known = ", ".join(each for each in more if each)
    return f"{said} ({known})" if known else said


def because(event: Event) -> str:
    return f" ({event.cause})" if event.cause else ""


def losses(job: Job) -> str:
    failures = f"{job.failures} failure{'' if job.failures == 1 else 's'}"
    crashes = f"{job.crashes} crash{'' if job.crashes == 1 else 'es'}"
    return f"{failures} and {crashes}, of at most {job.policy.retry.max_attempts}"
