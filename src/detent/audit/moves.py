"""Of the moves themselves: declared and by the right role (I2), none after the end (I4), in the order of time (I22)."""

from typing import Final

from detent.audit.step import Step
from detent.lifecycle.table import Leg, Route

_NOTHING_LEFT: Final = ("due_at", "claim_at", "order_at", "wake_at", "deadline_at", "cancel_by")


def declared_move(step: Step) -> str | None:
    """I2. A claim of a job that somebody holds is left to I7, which names the fault."""
    event, route = step.event, step.route
    if event.verb == "claim" and step.before["owner"] is not None:
        return None
    leg = _leg(route, event.to_state)
    if route is None or leg is None:
        return f"'{event.verb}' from {event.from_state!r} to {event.to_state!r} is not declared"
    if event.role not in route.roles and not _let_in_after_cancel(step, route):
        return f"'{event.verb}' by {event.role!r}; it is given to {', '.join(route.by)}"
    if event.type != leg.event and not _is_heartbeat(step):
        return f"'{event.verb}' is called {event.type!r}; the lifecycle calls it {leg.event!r}"
    return None


def final_end(step: Step) -> str | None:
    """I4, beside the event that follows an end, which `check_event` sees first."""
    after = step.after
    if (after["ended_at"] is None) == (after["phase"] == "ended"):
        return f"phase {after['phase']!r} with ended_at {after['ended_at']}"
    if after["phase"] == "ended":
        left = [name for name in _NOTHING_LEFT if after[name] is not None]
        if left:
            return f"ended in '{step.event.to_state}' but {', '.join(left)} still set"
    return None


def time_order(step: Step) -> str | None:
    """I22."""
    last = step.before["updated_at"]
    if last is not None and step.event.at < last:
        return f"it happened at {step.event.at}, {last - step.event.at} µs before the event it follows"
    return None


def _leg(route: Route | None, to_state: str) -> Leg | None:
    for leg in (route.forward, route.recovery) if route is not None else ():
        if leg is not None and leg.state.name == to_state:
            return leg
    return None


def _let_in_after_cancel(step: Step, route: Route) -> bool:
    return step.before["cancel_by"] is not None and step.event.role in route.roles_after_cancel


def _is_heartbeat(step: Step) -> bool:
    return step.event.verb == "renew" and step.event.type == step.lifecycle.table.heartbeat_event
