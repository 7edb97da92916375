"""Why a job that is ready has not been claimed: it is not due, it is held back, or nobody has come for it."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from detent.client.limits import limited
from detent.client.reasons import Facts, Reason, because, brief
from detent.client.serving import by_reports, paused
from detent.client.spoken import between, moment
from detent.client.views import Event, Job

SOON: Final = timedelta(seconds=5)  # what is due for less is no trouble: workers ask every second or so
IDLE_MAX: Final = timedelta(minutes=1)  # a queue with work in it from which nobody claims for longer is not served

NOT_SERVED: Final = frozenset({"queue_not_served", "kind_not_served", "adapter_not_served"})


def turns_of(job: Job, facts: Facts) -> Iterator[Reason]:
    if job.claim_at is None:
        text = f"rule '{job.rule}' holds it until somebody approves or denies it"
        yield Reason("held_by_policy", text, job.updated_at)
    elif job.claim_at > facts.now:
        yield _not_due(job)
        yield from paused(job, facts)
    else:
        due = job.claim_at
        yield from [*paused(job, facts), *limited(job, due, facts)] or [_claimable(job, due, facts)]
        yield from _taken_by_few(job)
        yield from _let_go(job, facts)


def _not_due(job: Job) -> Reason:
    if job.verdict == "throttle":
        return Reason("throttled", f"rule '{job.rule}' throttles it", job.updated_at, job.claim_at)
    if job.last_error is not None and job.attempt:
        text = f"attempt {job.attempt} was lost ({brief(job.last_error)}); it waits before the next"
        return Reason("retry_later", text, job.updated_at, job.claim_at)
    return Reason("not_due", "it is to run later", job.created_at, job.claim_at)


def _claimable(job: Job, due: datetime, facts: Facts) -> Reason:
    """Of a job that is due: `since` is when it became so. A claim that finds nothing leaves no trace.

    What workers report goes before the log, unless somebody claims jobs like this one who does not report.
    """
    claimed = facts.queue_claim
    reported = by_reports(job, due, facts)
    if reported is not None and not (reported.code in NOT_SERVED and _is_served_by_others(facts)):
        return reported
    if claimed is None:
        return Reason("no_claim", f"no worker has {_never(job, facts)}; is one running that serves it?", due)
    if facts.now - due >= SOON:
        if claimed.at < due or facts.now - claimed.at > IDLE_MAX:
            return Reason("no_claim", _idle(job, claimed, facts.now), due)
        if not _is_recent(facts.kind_claim, due, facts.now):
            return Reason("kind_not_served", _other_kinds(job, claimed, facts), due)
    last = f"the last claim was {between(claimed.at, facts.now)} ago, by '{claimed.worker}'"
    return Reason("waits_its_turn", f"it waits for its turn, one of {_crowd(job, facts)}; {last}", due)


def _is_served_by_others(facts: Facts) -> bool:
    """Whether somebody claims jobs of this kind who does not report."""
    claimed = facts.kind_claim
    if claimed is None or facts.now - claimed.at > IDLE_MAX:
        return False
    known = [*facts.workers, *([] if facts.gone is None else [facts.gone])]
    return claimed.worker not in {each.name for each in known}


def _never(job: Job, facts: Facts) -> str:
    if facts.looked_back_to is None:
        return f"ever claimed from queue '{job.queue}'"
    back_to = moment(facts.looked_back_to, facts.now)
    return f"claimed from queue '{job.queue}' since {back_to}, which is as far back as was looked"


def _idle(job: Job, claimed: Event, now: datetime) -> str:
    last = f"'{claimed.worker}' was the last, at {moment(claimed.at, now)}"
    return f"nobody has claimed from queue '{job.queue}' for {between(claimed.at, now)}; {last}; is it running?"


def _is_recent(claimed: Event | None, due: datetime, now: datetime) -> bool:
    return claimed is not None and claimed.at >= due and now - claimed.at <= IDLE_MAX


def _other_kinds(job: Job, claimed: Event, facts: Facts) -> str:
    own = facts.kind_claim
    none = f"none of kind '{job.kind}'{'' if own is None else f' for {between(own.at, facts.now)}'}"
    why = f"does one serve this kind, or do others go first, of {_crowd(job, facts)}?"
    return f"workers claim jobs from queue '{job.queue}', '{claimed.worker}' last, but {none}; {why}"


def _crowd(job: Job, facts: Facts) -> str:
    return f"{facts.waiting:,} ready in queue '{job.queue}'"


def _taken_by_few(job: Job) -> Iterator[Reason]:
    if job.adapter_id is not None:
        yield Reason("adapter", f"only a worker that asks for adapter '{job.adapter_id}' takes it")
    if job.last_error is not None and job.attempt:
        yield Reason("last_loss", f"attempt {job.attempt} was lost: {brief(job.last_error)}")


def _let_go(job: Job, facts: Facts) -> Iterator[Reason]:
    """What the policy had to do with the wait of a job that it keeps no longer."""
    if job.verdict == "throttle":
        yield Reason("was_throttled", f"rule '{job.rule}' had throttled it until it became due")
    elif facts.last.verb == "approve":
        by = f"{facts.last.actor} approved it{because(facts.last)}"
        yield Reason("was_held", f"rule '{job.rule}' had held it; {by}" if job.rule else by)
