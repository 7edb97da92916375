"""The rules of attempts that end without success: fail, retry, release, stall, expire, time_out; and of requeue.

A worker never names the state to go back to. It reports a failure or gives up its lease; which move follows is
decided here, from the error's class, the budget, and what the lifecycle declares.
"""

from typing import Any, Literal

from detent.kernel import bookkeeping
from detent.kernel.advancing import imply_start, keep_checkpoint
from detent.kernel.budget import used_up
from detent.kernel.change import Change
from detent.kernel.checks import is_orphaned
from detent.kernel.clock import micros
from detent.kernel.command import Command, Fail, Release, Retry
from detent.kernel.draft import Draft
from detent.kernel.ending import describe, end_cancelled, end_failure
from detent.kernel.failure import Category, Error, ReasonCode, category_of, is_retryable
from detent.kernel.rerunning import rerun_failed
from detent.lifecycle.table import Leg, Route
from detent.lifecycle.words import WORKING

# What an attempt came to. ALL-16: a run limit counts as a failure but is named for what it was.
Loss = Literal["failure", "crash", "timeout", "interruption"]

_COUNTER: dict[Loss, str] = {
    "failure": "failures",
    "timeout": "failures",
    "crash": "crashes",
    "interruption": "interruptions",
}
_REASON: dict[Loss, ReasonCode] = {
    "failure": "exhausted_retries",
    "timeout": "timeout",
    "crash": "infrastructure_failure",
    "interruption": "infrastructure_failure",
}


def fail(draft: Draft, command: Fail) -> Change:
    """A retryable failure goes back while the budget lasts, if the lifecycle has a way back; any other ends the job."""
    imply_start(draft)
    back = draft.route_of("retry")
    if back is not None and is_retryable(command.error.type, draft.job.spec.policy.error_classes):
        return _lose(draft, back, "failure", command.error, role=back.default_role)
    return _fail_finally(draft, command.error)


def retry(draft: Draft, command: Retry) -> Change:
    return _lose(draft, draft.route, "failure", command.error)


def release(draft: Draft, command: Release) -> Change:
    kept, values = keep_checkpoint(command.checkpoint)
    return _lose(draft, draft.route, "interruption", None, columns=kept, values=values)


def stall(draft: Draft, command: Command) -> Change:
    """The answer to a lost lease and to a run limit where the lifecycle says so; else the system's or owner's wish."""
    loss = _why_due(draft) if draft.role not in WORKING else None
    return _lose(draft, draft.route, loss or "interruption", _error_of(draft, loss))


def expire(draft: Draft, command: Command) -> Change:
    return _lose(draft, draft.route, "crash", _error_of(draft, "crash"))


def time_out(draft: Draft, command: Command) -> Change:
    return _lose(draft, draft.route, "timeout", _error_of(draft, "timeout"))


def requeue(draft: Draft, command: Command) -> Change:
    """Back to ready, claimable at once: the backoff was spent waiting. An operator's word starts the count anew."""
    leg, job = draft.route.leg, draft.job
    columns = bookkeeping.wait(job, leg.state, draft.now, due=draft.now, claimable=True)
    if draft.role == "operator":
        columns |= {"failures": 0, "crashes": 0, "interruptions": 0}
    draft.move("requeue", leg, columns)
    return draft.done()


def _fail_finally(draft: Draft, error: Error) -> Change:
    job, route = draft.job, draft.route
    counted = {"failures": job.failures + 1} if job.is_leased else None
    category = category_of(error.type, job.spec.policy.error_classes) if job.is_leased else "queue"
    end_failure(draft, "fail", route.leg, error, category=category, counted=counted)
    return draft.done(spawned=rerun_failed(draft, error))


def _lose(
    draft: Draft,
    route: Route,
    loss: Loss,
    error: Error | None,
    *,
    role: str | None = None,
    columns: dict[str, Any] | None = None,
    values: dict[str, Any] | None = None,
) -> Change:
    job = draft.job
    # ALL-17: after a cancel request an attempt that ends without an end of its own ends as cancelled, never as ready.
    cancelling = draft.route_of("cancel") if job.is_cancel_requested else None
    if cancelling is not None:
        end_cancelled(draft, cancelling, cause=f"cancel requested, then {route.verb}", last_error=error)
        return draft.done()
    counted = _count(draft, loss) | (columns or {})
    is_over = loss != "interruption" and _is_over(draft, loss, error, counted)
    ending = _ending(draft, route, error, is_over=is_over)
    if ending is not None:
        assert error is not None, "an interruption ends no job"
        verb, leg = ending
        end_failure(
            draft, verb, leg, error, category=_category(draft, loss, error), reason=_REASON[loss], counted=counted,
            role=_role_for(draft, verb, route, role),
        )  # fmt: skip
        return draft.done(spawned=rerun_failed(draft, error) if route.recovery is None else ())
    _go_back(draft, route, loss, error, counted, is_over=is_over, role=role, values=values or {})
    return draft.done()


def _ending(draft: Draft, route: Route, error: Error | None, *, is_over: bool) -> tuple[str, Leg] | None:
    """The end that this loss leads to, if it does. A lifecycle without a way back ends at once."""
    if route.recovery is None:
        return route.verb, route.leg
    if not is_over:
        return None
    if route.forward is not None:
        return route.verb, route.forward
    assert error is not None, "an interruption uses up no budget"
    preferred = draft.job.spec.policy.retry.for_error(error.type).used_up
    for verb in (preferred, "dead_letter", "fail"):
        last = draft.route_of(verb)
        if last is not None:
            return verb, last.leg
    return None


def _go_back(
    draft: Draft,
    route: Route,
    loss: Loss,
    error: Error | None,
    counted: dict[str, Any],
    *,
    is_over: bool,
    role: str | None,
    values: dict[str, Any],
) -> None:
    leg, job = route.recovery, draft.job
    assert leg is not None, "a loss that ends nothing goes back somewhere"
    due = None if is_over else draft.now + _delay(draft, leg, loss, error, counted)
    claimable = leg.state.phase == "ready" or (job.spec.policy.reclaim and not is_over)
    columns = bookkeeping.wait(job, leg.state, draft.now, due=due, claimable=claimable) | counted
    if loss != "interruption":
        columns["retries"] = job.retries + 1
    if error is not None:
        values = values | {"last_error": error}
    cause = describe(error) if error is not None else None
    draft.move(route.verb, leg, columns, role=role, cause=cause, values=values)


def _delay(draft: Draft, leg: Leg, loss: Loss, error: Error | None, counted: dict[str, Any]) -> int:
    """Failures back off; a lost or returned job that is queued again is claimable at once; a parked one waits."""
    if leg.state.phase == "ready" and loss in ("crash", "interruption"):
        return 0
    policy = draft.job.spec.policy.retry
    retry = policy.for_error(error.type) if error is not None else policy
    losses = counted.get("failures", draft.job.failures) + counted.get("crashes", draft.job.crashes)
    return micros(retry.delay_s(losses, draft.random))


def _count(draft: Draft, loss: Loss) -> dict[str, Any]:
    if not draft.job.is_leased:
        return {}  # time ran out while nobody had it: no attempt was lost
    counter = _COUNTER[loss]
    return {counter: getattr(draft.job, counter) + 1}


def _is_over(draft: Draft, loss: Loss, error: Error | None, counted: dict[str, Any]) -> bool:
    job = draft.job
    retry = (
        job.spec.policy.retry.for_error(error.type)
        if loss == "failure" and error is not None
        else job.spec.policy.retry
    )
    return used_up(retry, failures=counted.get("failures", job.failures), crashes=counted.get("crashes", job.crashes))


def _why_due(draft: Draft) -> Loss | None:
    """Which of the two came first: the lease's end, or the end of the time in this state."""
    job, now = draft.job, draft.now
    timed_out = job.deadline_at is not None and now >= job.deadline_at
    orphaned = is_orphaned(job, now)
    if timed_out and orphaned:
        assert job.deadline_at is not None
        assert job.heartbeat_by is not None
        return "timeout" if job.deadline_at <= job.heartbeat_by else "crash"
    return "timeout" if timed_out else "crash" if orphaned else None


def _error_of(draft: Draft, loss: Loss | None) -> Error | None:
    job = draft.job
    if loss == "timeout":
        return Error("TimedOut", f"time in '{job.state}' is over")
    if loss == "crash":
        return Error("LeaseExpired", f"worker {job.owner} stopped renewing attempt {job.attempt}")
    return None


def _category(draft: Draft, loss: Loss, error: Error) -> Category:
    """Nobody took it: queue. Taken and never heard of again: system. Ran and did not end well: the engine's own."""
    phase = draft.before.phase
    if loss == "failure":
        return category_of(error.type, draft.job.spec.policy.error_classes)
    if phase in ("ready", "parked"):
        return "queue"
    return "engine" if loss == "timeout" and phase == "active" else "system"


def _role_for(draft: Draft, verb: str, route: Route, role: str | None) -> str | None:
    """The end of a used-up budget is a move of its own, with its own roles; name one that has it."""
    if verb == route.verb:
        return role
    last = draft.route_of(verb)
    assert last is not None
    return draft.role if draft.role in last.roles else last.default_role
