"""Of waiting and stopping: after a cancel request (I16), within the limits of time (I17), not before its time (I18)."""

from detent.audit.step import Step
from detent.kernel.bookkeeping import time_limit_s
from detent.kernel.clock import earliest, micros
from detent.lifecycle import Policy, State
from detent.lifecycle.words import LEASED


def stopping(step: Step) -> str | None:
    """I16: asked to stop, a job stays with its owner until it ends, and the grace stands."""
    asked, after = step.before["cancel_by"], step.after
    if asked is None:
        if step.event.verb == "request_cancel" and after["cancel_by"] is None:
            return "a cancel was requested and its grace has no end"
        return None
    if after["phase"] == "ended":
        return None
    if after["phase"] not in LEASED:
        return f"'{step.event.verb}' takes it back to '{step.event.to_state}' though a cancel was requested"
    if after["cancel_by"] != asked:
        return f"'{step.event.verb}' moves the end of the grace from {asked} to {after['cancel_by']}"
    return None


def limited(step: Step) -> str | None:
    """I17, as far as one event shows it: the limit is set on entering, and somebody looks when something is due."""
    after, state = step.after, step.state
    if state is None or state.phase == "ended":
        return None
    if step.before["state"] != state.name:
        limit = deadline(step.policy, state, entered=step.at, due=after["due_at"])
        if limit is not None and (after["deadline_at"] is None or after["deadline_at"] > limit):
            return f"time in '{state.name}' should end by {limit}, but ends at {after['deadline_at']}"
    if state.timer and after["due_at"] is None:
        return f"'{state.name}' waits on a timer that never runs out"
    if state.phase in LEASED:
        due = earliest(after["deadline_at"], after["heartbeat_by"], after["cancel_by"])
    else:
        due = earliest(after["deadline_at"], after["due_at"] if state.phase == "parked" else None)
    if due is not None and (after["wake_at"] is None or after["wake_at"] > due):
        return f"something is due at {due}, but nobody looks before {after['wake_at']}"
    return None


def in_time(step: Step) -> str | None:
    """I18: neither claimed nor called back from a timer early. A claim of a held job is left to I7."""
    before, event, at = step.before, step.event, step.at
    if event.verb == "claim" and before["owner"] is None:
        claim_at = before["claim_at"]
        if claim_at is None:
            return "claimed, though it was not claimable"
        if at < claim_at:
            return f"claimed at {at}, {claim_at - at} µs before it was claimable"
        if step.run_at is not None and at < step.run_at:
            return f"claimed at {at}, {step.run_at - at} µs before its run_at"
    if event.verb == "requeue" and _is_timer(step) and (before["due_at"] is None or at < before["due_at"]):
        return f"requeued at {at}; its wait ends at {before['due_at']}"
    return None


def deadline(policy: Policy, state: State, *, entered: int, due: int | None) -> int | None:
    """When time in a state is over. For a job that waits it runs from when it was due."""
    limit_s = time_limit_s(policy, state)
    if limit_s is None:
        return None
    since = due if due is not None and state.phase not in LEASED else entered
    return since + micros(limit_s)


def _is_timer(step: Step) -> bool:
    source = step.lifecycle.by_name.get(step.event.from_state or "")
    return source is not None and source.timer
