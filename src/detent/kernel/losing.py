"""The rules of attempts that end without success: fail, retry, release, stall, expire, time_out; and of requeue.

A worker never names the state to go back to. It reports a failure or gives up its lease; which move follows is
decided in `lost`, from the error's class, the budget, and what the lifecycle declares.
"""

from typing import Any

from msgspec.structs import replace

from detent.kernel import bookkeeping
from detent.kernel.advancing import imply_start, keep_checkpoint
from detent.kernel.change import Change
from detent.kernel.checks import is_orphaned
from detent.kernel.command import Command, Fail, Release, Retry
from detent.kernel.draft import Draft
from detent.kernel.ending import end_failure
from detent.kernel.failure import CRASHED, EXPIRED, Error, bounded, category_of, is_retryable
from detent.kernel.lost import Loss, lose
from detent.kernel.rerunning import is_rerun, rerun_failed
from detent.lifecycle.table import Leg
from detent.lifecycle.words import SYSTEM, WORKING


def fail(draft: Draft, command: Fail) -> Change | None:
    """A retryable failure goes back while the budget lasts, if the lifecycle has a way back; any other ends the job."""
    if draft.route.implied is not None:
        imply_start(draft, draft.route.implied)
    error = bounded(command.error)
    said = None if command.execution_ms is None else {"execution_ms": command.execution_ms}
    back = draft.route_of("retry")
    if back is not None and is_retryable(error.type, draft.job.spec.policy.error_classes):
        role = draft.role if draft.role in back.by else back.default_role
        return lose(draft, back, Loss("crash" if error.type == CRASHED else "failure", error, said=said), role=role)
    return _fail_finally(draft, error, said)


def retry(draft: Draft, command: Retry) -> Change | None:
    return lose(draft, draft.route, Loss("failure", bounded(command.error)))


def release(draft: Draft, command: Release) -> Change | None:
    kept, values = keep_checkpoint(command.checkpoint)
    return lose(draft, draft.route, Loss("interruption", columns=kept, values=values))


def stall(draft: Draft, command: Command) -> Change | None:
    """The answer to a lost lease and to a run limit where the lifecycle says so; else the system's or owner's wish."""
    loss = None if draft.role in WORKING else _what_is_due(draft)
    return lose(draft, draft.route, loss or Loss("interruption"))


def expire(draft: Draft, command: Command) -> Change | None:
    return lose(draft, draft.route, _crash(draft))


def time_out(draft: Draft, command: Command) -> Change | None:
    return lose(draft, draft.route, _timeout(draft))


def requeue(draft: Draft, command: Command) -> Change:
    """Back to ready, claimable at once: the backoff was spent waiting. A person's word starts the count anew."""
    leg, job = draft.route.leg, draft.job
    due = max(draft.now, job.spec.run_at or 0)
    columns = bookkeeping.wait(job, leg.state, draft.now, due=due, claimable=True)
    if draft.role not in SYSTEM:
        columns |= {"failures": 0, "crashes": 0, "interruptions": 0}
    draft.move("requeue", leg, columns)
    return draft.done()


def _fail_finally(draft: Draft, error: Error, said: dict[str, Any] | None) -> Change:
    job = draft.job
    counter = "crashes" if error.type == CRASHED else "failures"
    counted = {counter: getattr(job, counter) + 1} if job.is_leased else None
    category = category_of(error.type, job.spec.policy.error_classes) if job.is_leased else "queue"
    verb, leg = "fail", draft.route.leg
    if job.spec.policy.is_compensation and not is_rerun(job, error):
        error = replace(error, reason_code="compensation_failed")
        verb, leg = _set_aside(draft, error) or (verb, leg)
    end_failure(draft, verb, leg, error, category=category, columns=counted, said=said)
    return draft.done(spawned=rerun_failed(draft, error))


def _set_aside(draft: Draft, error: Error) -> tuple[str, Leg] | None:
    """A compensation that can do no more goes where one goes that has tried too often: somebody has to look at it."""
    aside = draft.route_of("dead_letter")
    if aside is None or draft.role not in aside.roles:
        return None
    is_wanted = draft.job.spec.policy.retry.for_error(error.type).used_up == "dead_letter"
    return ("dead_letter", aside.leg) if is_wanted else None


def _what_is_due(draft: Draft) -> Loss | None:
    """Which of the two came first: the lease's end, or the end of the time in this state."""
    job, now = draft.job, draft.now
    is_timed_out = job.deadline_at is not None and now >= job.deadline_at
    if not is_orphaned(job, now):
        return _timeout(draft) if is_timed_out else None
    limit_first = job.deadline_at is not None and job.heartbeat_by is not None and job.deadline_at <= job.heartbeat_by
    return _timeout(draft) if limit_first else _crash(draft)


def _timeout(draft: Draft) -> Loss:
    return Loss("timeout", Error("TimedOut", f"time in '{draft.job.state}' is over"))


def _crash(draft: Draft) -> Loss:
    job = draft.job
    return Loss("crash", Error(EXPIRED, f"worker {job.owner} stopped renewing attempt {job.attempt}"))
