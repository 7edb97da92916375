"""Why a job has ended as it did: by whom, on which attempt, for what; and what became of it since."""

from collections.abc import Iterator

from detent.client.reasons import Facts, Reason, because, brief, losses
from detent.client.views import Event, Job
from detent.kernel.budget import used_up
from detent.kernel.dead_letter import is_dead_letter


def ends_of(job: Job, facts: Facts) -> list[Reason]:
    return [_end(job, facts), *_used_up(job), *_again(facts), *_undone(facts)]


def _end(job: Job, facts: Facts) -> Reason:
    code, text = _told(job, facts)
    return Reason(code, text, since=job.ended_at)


def _told(job: Job, facts: Facts) -> tuple[str, str]:
    """A lifecycle without a state for it ends a cancelled or denied job as failed, in a category of that name."""
    error = job.error
    if job.outcome == "success":
        return "succeeded", f"it succeeded {_with_whom(job)}"
    if error is None or error.category == "cancelled":
        return "cancelled", _cancelled(facts.last, facts.stop_asked)
    if error.category == "denied":
        return "denied", _denied(job, facts.last)
    if is_dead_letter(facts.lifecycle, job.record):
        return "dead_letter", f"it was set aside as a dead letter {_with_whom(job)}: {brief(error)}"
    return "failed", f"it failed for good {_with_whom(job)}: {brief(error)}"


def _with_whom(job: Job) -> str:
    return f"on attempt {job.attempt} with '{job.last_owner}'" if job.attempt else "before anybody had claimed it"


def _cancelled(last: Event, asked: Event | None) -> str:
    before = "" if asked is None else f"; {asked.actor} had asked it to stop{because(asked)}"
    return f"it was cancelled by {last.actor}{because(last)}{before}"


def _denied(job: Job, last: Event) -> str:
    rule = f" under rule '{job.rule}'" if job.rule else ""
    is_plain = last.cause == f"denied by rule {job.rule}"  # what is said where nobody gave a reason
    return f"it was denied by {last.actor}{rule}{'' if is_plain else because(last)}"


def _used_up(job: Job) -> Iterator[Reason]:
    if job.error is None or job.error.reason_code is None:  # whoever counts the budget also names a reason
        return
    retry = job.policy.retry.for_error(job.error.type)
    if retry.max_attempts > 1 and used_up(retry, failures=job.failures, crashes=job.crashes):
        yield Reason("budget_used_up", f"its attempts are used up: {losses(job)}")


def _again(facts: Facts) -> Iterator[Reason]:
    for other in facts.reruns:
        yield Reason("rerun", f"it was run again, as job {other}")


def _undone(facts: Facts) -> Iterator[Reason]:
    """By the job that did it; else by the one that is to. Another may have had to do it in its place."""
    meant = (facts.last.payload or {}).get("compensation_job_id")
    if facts.compensated_by is not None:
        yield Reason("compensated", f"its work was undone by job {facts.compensated_by}")
    elif meant is not None:
        yield Reason("compensating", f"its work is to be undone by job {meant}")
