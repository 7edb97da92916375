"""Of attempts lost: each counts once and within the maxima (I9), and only a spent budget makes a dead letter (I21)."""

from typing import Any, Final

from detent.audit.step import Columns, Step
from detent.kernel.budget import used_up
from detent.kernel.failure import is_retryable
from detent.lifecycle import Policy, Retry
from detent.lifecycle.table import Route
from detent.lifecycle.words import GROUPS, LEASED

_COUNTERS: Final = ("failures", "crashes", "interruptions")
_CRASH: Final = "LeaseExpired"  # the error type of a lost lease
_SYSTEM: Final = frozenset(GROUPS["system"])
_FAILED: Final = "compensation_failed"
# What a lost attempt may count as, by the verb that took it. What is not here loses no attempt.
_COUNTS_AS: Final[dict[str, tuple[str, ...]]] = {
    "fail": ("failures", "crashes"),
    "retry": ("failures",),
    "time_out": ("failures",),
    "expire": ("crashes",),
    "release": ("interruptions",),
    "stall": _COUNTERS,
    "dead_letter": ("failures", "crashes"),  # of a spent budget; set aside on purpose it counts nothing
}


def counted_losses(step: Step) -> str | None:
    """I9."""
    grown = [name for name in _COUNTERS if step.after[name] != step.before[name]]
    return _miscounted(step, grown) or _over_budget(step, grown) or _ended_early(step)


def dead_letter(step: Step) -> str | None:
    """I21."""
    return (_wrongly_set_aside(step) or _unexplained(step)) if _is_dead_letter(step) else None


def _miscounted(step: Step, grown: list[str]) -> str | None:
    before, after, verb = step.before, step.after, step.event.verb
    if verb == "requeue" and step.event.role not in _SYSTEM:
        left = [name for name in _COUNTERS if after[name] != 0]
        return f"a person's requeue leaves {', '.join(left)} standing" if left else None
    may_count = _COUNTS_AS.get(verb, ()) if before["phase"] in LEASED else ()
    if len(grown) > 1 or any(name not in may_count or after[name] != before[name] + 1 for name in grown):
        counts = ", ".join(f"{name} {before[name]} → {after[name]}" for name in grown)
        return f"'{verb}' counts {counts}"
    if may_count and not grown and verb != "dead_letter":
        return f"'{verb}' took attempt {before['attempt']} away and counts nothing"
    return None


def _over_budget(step: Step, grown: list[str]) -> str | None:
    """The maxima, and nobody sent round once they are reached: neither by a claim nor by the system's requeue."""
    after, verb = step.after, step.event.verb
    if grown:
        total_max = max(retry.max_attempts for retry in _retries(step.policy))
        crashes_max = step.policy.retry.for_error(_CRASH).crashes_max
        if _losses(after) > total_max or (crashes_max is not None and after["crashes"] > crashes_max):
            return f"'{verb}' makes {_tally(step)}; at most {total_max} together, {crashes_max} crashes"
    elif verb == "claim" and all(_used_up(retry, after) for retry in _retries(step.policy)):
        return f"claimed with {_tally(step)}: the budget is used up"
    elif verb == "requeue" and step.before["due_at"] is None and _is_spent_for_the_system(step):
        return f"requeued by the system with {_tally(step)}: the budget is used up"
    return None


def _is_spent_for_the_system(step: Step) -> bool:
    """A lost job that is due at no time waits for a person."""
    return step.event.role in _SYSTEM and any(_used_up(retry, step.after) for retry in _retries(step.policy))


def _ended_early(step: Step) -> str | None:
    """Where there is a way back, a loss ends the job only when the budget is used up. Dead letters: see I21."""
    if step.after["phase"] != "ended" or _is_dead_letter(step) or step.route is None:
        return None
    has_way_back = step.route.recovery is not None or _is_retryable_failure(step)
    if has_way_back and not _is_spent(step):
        return f"'{step.event.verb}' ended it with {_tally(step)}: the budget is not used up"
    return None


def _is_retryable_failure(step: Step) -> bool:
    error_type = _error_type(step)
    if step.event.verb != "fail" or error_type is None or "retry" not in _verbs(step):
        return False
    return is_retryable(error_type, step.policy.error_classes)


def _wrongly_set_aside(step: Step) -> str | None:
    """A lost attempt leads here only with a spent budget, and not where the policy has the job fail instead."""
    if _losses(step.after) == _losses(step.before) and step.event.verb == "dead_letter":
        return None
    if not _is_spent(step):
        return f"'{step.event.verb}' set it aside with {_tally(step)}: the budget is not used up"
    if step.event.verb == "dead_letter" and _should_fail(step):
        return "set aside, but its policy says that a job with a used-up budget fails"
    return None


def _should_fail(step: Step) -> bool:
    error_type, fail = _error_type(step), _verbs(step).get("fail")
    if error_type is None or fail is None or step.event.role not in fail.roles:
        return False
    return step.policy.retry.for_error(error_type).used_up == "fail"


def _unexplained(step: Step) -> str | None:
    error = _error(step)
    missing = [name for name in ("reason_code", "stage") if error and not error.get(name)]
    if missing:
        return f"a dead letter without {' and '.join(missing)}"
    reason = error.get("reason_code", _FAILED)
    if step.policy.is_compensation and _losses(step.after) > _losses(step.before) and reason != _FAILED:
        return f"a compensation that is used up is set aside for {reason}, not for {_FAILED}"
    return None


def _is_dead_letter(step: Step) -> bool:
    """It came to where dead letters go, and not by a verb that the lifecycle sends there for reasons of its own."""
    if step.event.to_state not in step.lifecycle.table.targets.get("dead_letter", ()):
        return False
    route = step.route
    return step.event.verb == "dead_letter" or (route is not None and route.recovery is not None)


def _is_spent(step: Step) -> bool:
    """A loss has the budget of its error type, which is not always known; then the smallest will do.

    A compensation that failed for good has none left.
    """
    error_type = _error_type(step)
    if step.policy.is_compensation and not is_retryable(error_type or "", step.policy.error_classes):
        return True
    retries = _retries(step.policy) if error_type is None else (step.policy.retry.for_error(error_type),)
    return any(_used_up(retry, step.after) for retry in retries)


def _used_up(retry: Retry, columns: Columns) -> bool:
    return used_up(retry, failures=columns["failures"], crashes=columns["crashes"])


def _retries(policy: Policy) -> tuple[Retry, ...]:
    return (policy.retry, *policy.retry.by_error.values())


def _losses(columns: Columns) -> int:
    losses: int = columns["failures"] + columns["crashes"]
    return losses


def _tally(step: Step) -> str:
    return f"{step.after['failures']} failures and {step.after['crashes']} crashes"


def _verbs(step: Step) -> dict[str, Route]:
    return step.lifecycle.table.routes.get(step.event.from_state or "", {})


def _error_type(step: Step) -> str | None:
    """What the attempt was lost to: the kernel's own word for a lost lease, else what the event tells."""
    if step.after["crashes"] > step.before["crashes"]:
        return _CRASH
    return _error(step).get("type")


def _error(step: Step) -> dict[str, Any]:
    """As the event tells it. Payloads may be dropped after a while; then there is nothing to judge it by."""
    payload = step.event.payload
    error = payload.get("error") if payload else None
    return error if isinstance(error, dict) else {}
