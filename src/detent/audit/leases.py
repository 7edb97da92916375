"""Of leases: who may count an attempt (I5), act under one (I6), hold one (I7) and take one away for time (I8)."""

from typing import Final

from detent.audit.step import Columns, Step
from detent.lifecycle.words import LEASED, WORKING

_LEASE: Final = ("owner", "lease_s", "lease_expires_at", "heartbeat_by")


def attempt_count(step: Step) -> str | None:
    """I5."""
    was, is_now, event = step.before["attempt"], step.after["attempt"], step.event
    wanted = was + 1 if event.verb == "claim" else was
    if is_now != wanted:
        return f"'{event.verb}' takes the attempt from {was} to {is_now}; it should be {wanted}"
    if event.attempt != is_now and not _is_owners(step):
        return f"'{event.verb}' says attempt {event.attempt}; the job is at attempt {is_now}"
    return None


def fence(step: Step) -> str | None:
    """I6."""
    if not _is_owners(step):
        return None
    before, event = step.before, step.event
    if event.worker is None or event.worker != before["owner"]:
        return f"'{event.verb}' by worker {event.worker!r}; the job was held by {before['owner']!r}"
    if event.attempt != before["attempt"]:
        return f"'{event.verb}' under attempt {event.attempt}; the lease was attempt {before['attempt']}"
    ends = before["lease_expires_at"]
    if ends is None or step.at >= ends:
        return f"'{event.verb}' by {event.worker!r} at {step.at}; its lease ended at {ends}"
    return None


def one_holder(step: Step) -> str | None:
    """I7: the holder changes by a claim or by losing the lease, and the columns say so."""
    before, after, event = step.before, step.after, step.event
    misfit = _misfit(step)
    if misfit is not None:
        return misfit
    had, has = before["owner"], after["owner"]
    if event.verb == "claim":
        return _taken(step)
    if has is not None:
        if has != had:
            return f"'{event.verb}' hands the job from {had!r} to {has!r} without a claim"
        if event.verb not in ("renew", "start") and before["lease_expires_at"] != after["lease_expires_at"]:
            return f"'{event.verb}' moves the lease's end from {before['lease_expires_at']} to {_lease_end(after)}"
    elif had is not None and (after["last_owner"], after["last_lease_expires_at"]) != (had, _lease_end(before)):
        return f"'{event.verb}' revokes the lease of {had!r} but remembers {after['last_owner']!r}"
    return None


def late_enough(step: Step) -> str | None:
    """I8: who counts a crash has seen a heartbeat missed, or has the owner's word; a time limit, seen it pass."""
    before, event = step.before, step.event
    if event.verb == "expire" or (step.after["crashes"] > before["crashes"] and not _is_owners(step)):
        return _too_early(step, "heartbeat_by", "two missed heartbeats")
    if event.verb == "time_out" or (event.verb == "stall" and step.after["failures"] > before["failures"]):
        return _too_early(step, "deadline_at", "the end of its time")
    return None


def _is_owners(step: Step) -> bool:
    """Whether it is the owner's word. A retry is the system's move, but on the word of the worker it names."""
    event, route = step.event, step.route
    if event.role in WORKING:
        return route is not None and route.owner_only
    return event.verb == "retry" and event.worker is not None


def _misfit(step: Step) -> str | None:
    """What the phase demands: a whole lease or none, and a job that is held is not on offer."""
    after, state = step.after, step.state
    if state is None:
        return None  # no such state: I2 says so
    if after["phase"] != state.phase:
        return f"state '{state.name}' is {state.phase}, but the log says {after['phase']!r}"
    wants_lease = state.phase in LEASED
    wrong = [name for name in _LEASE if (after[name] is None) == wants_lease]
    if wrong:
        return f"'{state.name}' is {state.phase} {'without' if wants_lease else 'with'} {', '.join(wrong)}"
    if wants_lease and after["claim_at"] is not None:
        return f"held by {after['owner']!r} and yet claimable from {after['claim_at']}"
    return None


def _taken(step: Step) -> str | None:
    had, after, event = step.before["owner"], step.after, step.event
    if had is not None:
        return f"claimed for {event.worker!r} while {had!r} holds it"
    if after["owner"] != event.worker:
        return f"claimed by {event.worker!r} for {after['owner']!r}"
    if _lease_end(after) <= step.at:
        return f"claimed at {step.at} with a lease that ends at {_lease_end(after)}"
    return None


def _lease_end(columns: Columns) -> int:
    end: int = columns["lease_expires_at"]
    return end


def _too_early(step: Step, column: str, what: str) -> str | None:
    moment = step.before[column]
    if moment is None:
        return f"'{step.event.verb}' at {step.at}, but {what} was never due"
    if step.at < moment:
        return f"'{step.event.verb}' at {step.at}, {moment - step.at} µs before {what}"
    return None
