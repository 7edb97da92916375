"""What becomes of a lost attempt: back while the budget lasts; then the end, or a wait for a person."""

from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from detent.kernel import bookkeeping
from detent.kernel.budget import used_up
from detent.kernel.change import Change
from detent.kernel.clock import micros
from detent.kernel.draft import Draft
from detent.kernel.ending import describe, end_failure, is_cancelled_instead
from detent.kernel.failure import Category, Error, ReasonCode, category_of
from detent.kernel.job import Job
from detent.kernel.rerunning import is_rerun, rerun_failed
from detent.lifecycle import Retry
from detent.lifecycle.soundness.answers import waits_for_somebody
from detent.lifecycle.table import Leg, Route
from detent.lifecycle.words import GROUPS

LossKind = Literal["failure", "crash", "timeout", "interruption"]

_COUNTER: Final[dict[LossKind, str]] = {
    "failure": "failures",
    "timeout": "failures",  # ALL-16: a run limit counts as a failure but is named for what it was
    "crash": "crashes",
    "interruption": "interruptions",
}
_REASON: Final[dict[LossKind, ReasonCode]] = {
    "failure": "exhausted_retries",
    "timeout": "timeout",
    "crash": "infrastructure_failure",
}
_SYSTEM: Final = GROUPS["system"]


class Loss(Struct, frozen=True):
    """What an attempt came to. Only an interruption comes without an error; what it saved goes along."""

    kind: LossKind
    error: Error | None = None
    columns: dict[str, Any] = {}
    values: dict[str, Any] = {}
    said: dict[str, Any] | None = None


def lose(draft: Draft, route: Route, loss: Loss, *, role: str | None = None) -> Change | None:
    """None: the budget is used up, and the role that asks has no move that could end the job."""
    counted = _count(draft.job, loss)
    is_over = loss.error is not None and _is_over(draft.job, loss, counted)
    ending = _ending(draft, route, loss, is_over=is_over)
    # A failure that uses the budget up and ends the job is a final one, which stays possible after a cancel request.
    is_final = ending is not None and is_over and loss.kind == "failure"
    told = loss.values if loss.error is None else loss.values | {"last_error": loss.error}
    if not is_final and is_cancelled_instead(draft, route.verb, loss.columns, told):
        return draft.done()
    if ending is not None:
        return _end(draft, ending, loss, counted, spawns=route.recovery is None)
    leg = route.recovery
    if leg is None or (is_over and not _can_wait(draft, route)):
        return None
    _go_back(draft, route.verb, leg, loss, counted, is_over=is_over, role=role)
    return draft.done()


class _Ending(Struct, frozen=True):
    verb: str
    leg: Leg
    role: str


def _ending(draft: Draft, route: Route, loss: Loss, *, is_over: bool) -> _Ending | None:
    """The end that this loss leads to, if any. A lifecycle without a way back ends at once."""
    if route.forward is not None and (is_over or route.recovery is None):
        return _Ending(route.verb, route.forward, draft.role)
    if not is_over or loss.error is None or _can_wait(draft, route):
        return None
    for verb in (_retry_for(draft.job, loss).used_up, "dead_letter", "fail"):
        last = draft.route_of(verb)
        role = None if last is None else _role_for(draft, last)
        if last is not None and role is not None:
            return _Ending(verb, last.leg, role)
    return None


def _can_wait(draft: Draft, route: Route) -> bool:
    """Whether the way back leads to where a job can rest until somebody other than the system requeues it."""
    leg = route.recovery
    return leg is not None and waits_for_somebody(draft.lifecycle, leg.state)


def _role_for(draft: Draft, route: Route) -> str | None:
    """The end of a used-up budget is a move of its own: the caller must have it, or the system for the system."""
    if draft.role in route.roles:
        return draft.role
    if draft.role in _SYSTEM:
        return next((role for role in _SYSTEM if role in route.roles), None)
    return None


def _end(draft: Draft, ending: _Ending, loss: Loss, counted: dict[str, Any], *, spawns: bool) -> Change:
    assert loss.error is not None, "soundness: only recovery moves answer an interruption"
    # Why the budget is used up is the kernel's to say, whatever reason the worker had for its own failure.
    goes_on = spawns and is_rerun(draft.job, loss.error)
    failed = draft.job.spec.policy.is_compensation and not goes_on
    error = replace(loss.error, reason_code="compensation_failed" if failed else _REASON[loss.kind])
    end_failure(
        draft, ending.verb, ending.leg, error, category=_category(draft, loss), columns=counted, role=ending.role,
        said=loss.said,
    )  # fmt: skip
    return draft.done(spawned=rerun_failed(draft, error) if goes_on else ())


def _go_back(
    draft: Draft, verb: str, leg: Leg, loss: Loss, counted: dict[str, Any], *, is_over: bool, role: str | None
) -> None:
    job = draft.job
    due = None if is_over else draft.now + _delay(draft, leg, loss, counted)
    can_reclaim = job.spec.policy.reclaim and "claim" in draft.lifecycle.table.routes[leg.state.name]
    claimable = leg.state.phase == "ready" or (can_reclaim and not is_over)
    columns = bookkeeping.wait(job, leg.state, draft.now, due=due, claimable=claimable) | counted | loss.columns
    values = loss.values
    if loss.error is not None:
        columns["retries"] = job.retries + 1
        values = values | {"last_error": loss.error}
    draft.move(verb, leg, columns, role=role, cause=describe(loss.error), payload=loss.said, values=values)


def _delay(draft: Draft, leg: Leg, loss: Loss, counted: dict[str, Any]) -> int:
    """Failures back off; a lost or returned job that is queued again is claimable at once; a parked one waits."""
    if leg.state.phase == "ready" and loss.kind in ("crash", "interruption"):
        return 0
    job = draft.job
    losses = counted.get("failures", job.failures) + counted.get("crashes", job.crashes)
    return micros(_retry_for(job, loss).delay_s(losses, draft.random))


def _count(job: Job, loss: Loss) -> dict[str, Any]:
    if not job.is_leased:
        return {}  # time ran out while nobody had it: no attempt was lost
    counter = _COUNTER[loss.kind]
    return {counter: getattr(job, counter) + 1}


def _is_over(job: Job, loss: Loss, counted: dict[str, Any]) -> bool:
    failures, crashes = counted.get("failures", job.failures), counted.get("crashes", job.crashes)
    return used_up(_retry_for(job, loss), failures=failures, crashes=crashes)


def _retry_for(job: Job, loss: Loss) -> Retry:
    retry = job.spec.policy.retry
    return retry if loss.error is None else retry.for_error(loss.error.type)


def _category(draft: Draft, loss: Loss) -> Category:
    """Nobody took it: queue. Taken and never heard of again: system. Ran and did not end well: the engine's own."""
    phase = draft.before.phase
    if loss.kind == "failure" and loss.error is not None:
        return category_of(loss.error.type, draft.job.spec.policy.error_classes)
    if phase in ("ready", "parked"):
        return "queue"
    return "engine" if loss.kind == "timeout" and phase == "active" else "system"
