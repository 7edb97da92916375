"""Answers: whatever time brings to a job, a move of the system's answers it, or somebody can."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from detent.lifecycle.model import Move, State
from detent.lifecycle.problems import Problem, problem
from detent.lifecycle.soundness.graph import edges, roles
from detent.lifecycle.words import GROUPS, LEASED

if TYPE_CHECKING:
    from detent.lifecycle.lifecycle import Lifecycle
    from detent.lifecycle.policy import Policy

# Losses that are counted, and so can use up the budget. A release is not.
COUNTED: Final = frozenset({"expire", "time_out", "retry", "stall"})
SYSTEM: Final = frozenset(GROUPS["system"])


def _expiry(lifecycle: Lifecycle) -> Iterator[Problem]:
    verb = lifecycle.on_expiry
    for state in lifecycle.states:
        if state.phase in LEASED and not _is_systems(lifecycle, state, verb):
            what = f"state '{state.name}' is leased, and the reconciler has no answer when the lease runs out"
            remedy = f"add move('{state.name}', '{verb}', …, by='reconciler'), back with recovery=True or to an end"
            yield problem("no_expiry_answer", f"{what}; {remedy}")


def _timeouts(lifecycle: Lifecycle) -> Iterator[Problem]:
    yield from unanswered_limits(lifecycle, lifecycle.defaults)


def unanswered_limits(lifecycle: Lifecycle, policy: Policy) -> Iterator[Problem]:
    """States whose time this policy or the lifecycle limits, though nothing happens when it is over."""
    verb = lifecycle.on_timeout
    for state in lifecycle.states:
        if _is_limited(state, policy) and not _is_systems(lifecycle, state, verb):
            what = f"state '{state.name}' has a time limit, and the reconciler has no '{verb}' to answer it"
            yield problem("no_timeout_answer", f"{what}; add move('{state.name}', '{verb}', …) or drop the limit")


def _is_limited(state: State, policy: Policy) -> bool:
    runs_limited = state.phase == "active" and policy.timeout_s is not None
    return state.timeout_s is not None or state.name in policy.timeouts or runs_limited


def _waits(lifecycle: Lifecycle) -> Iterator[Problem]:
    """A recovery into a parked state sets the time at which the system queues the job again."""
    parked = {target.name: target for move, _, target in edges(lifecycle) if move.recovery and target.phase == "parked"}
    parked |= {state.name: state for state in lifecycle.states if state.timer}
    for state in parked.values():
        if not _is_systems(lifecycle, state, "requeue"):
            what = f"state '{state.name}' is where lost jobs wait, and the reconciler has no requeue from it"
            remedy = f"add move('{state.name}', 'requeue', …, by='reconciler', recovery=True)"
            yield problem("no_timer_answer", f"{what}; {remedy}")


def _budget(lifecycle: Lifecycle) -> Iterator[Problem]:
    for move, source, target in edges(lifecycle):
        is_counted = move.recovery and move.verb in COUNTED and source.phase in LEASED
        if is_counted and when_used_up(lifecycle, move, source, target) is None:
            what = f"a job in '{source.name}' that used up its attempts has no answer to '{move.verb}' and never ends"
            yield problem("no_used_up_answer", f"{what}; {_way_to_end(move, source)}")


def _way_to_end(move: Move, source: State) -> str:
    speaker = "the owner" if move.verb == "retry" else "the reconciler"
    own = f"{move.verb}, " if move.verb in ("expire", "time_out") else ""
    parked = f"lead '{move.verb}' to a parked state that an operator can requeue from"
    return f"add a forward {own}dead_letter or fail from '{source.name}' to an ended state, by {speaker}, or {parked}"


def has_way_back(lifecycle: Lifecycle) -> bool:
    """Whether a job can have a second attempt. Where none can, the first loss ends it, whatever its budget says."""
    return any(
        move.recovery and move.verb in COUNTED and source.phase in LEASED for move, source, _ in edges(lifecycle)
    )


def when_used_up(lifecycle: Lifecycle, back: Move, source: State, target: State) -> tuple[str, State] | None:
    """What a counted loss comes to when the budget is used up, instead of the way back: the verb and where it leads."""
    forward = [(move, end) for move, state, end in edges(lifecycle) if state is source and not move.recovery]
    ends = {move.verb: end for move, end in forward}
    if back.verb in ends:
        return back.verb, ends[back.verb]
    if waits_for_somebody(lifecycle, target):
        return back.verb, target
    # A retry is the owner's failure; every other loss is the reconciler's to settle.
    speaker = "owner" if back.verb == "retry" else "reconciler"
    ends = {move.verb: end for move, end in forward if speaker in move.by}
    used_up = lifecycle.defaults.retry.used_up
    return next(((verb, ends[verb]) for verb in (used_up, "dead_letter", "fail") if verb in ends), None)


def waits_for_somebody(lifecycle: Lifecycle, state: State) -> bool:
    """Whether a job can rest here until somebody requeues it: the system itself may not, once the budget is used up."""
    may_requeue = roles(lifecycle).get((state.name, "requeue"), set())
    return state.phase == "parked" and not state.timer and not may_requeue <= SYSTEM


def _cancels(lifecycle: Lifecycle) -> Iterator[Problem]:
    """A request to stop outlives a start: whoever can be asked in one leased state must be cancellable in the next."""
    known = roles(lifecycle)
    for _, source, target in edges(lifecycle):
        is_within_lease = source is not target and source.phase in LEASED and target.phase in LEASED
        if is_within_lease and (source.name, "cancel") in known and (target.name, "cancel") not in known:
            what = f"'{source.name}' can be cancelled and leads to '{target.name}', which cannot"
            yield problem("cancel_gap", f"{what}; add cancel from '{target.name}' or drop it from '{source.name}'")


def _claimable(lifecycle: Lifecycle) -> Iterator[Problem]:
    known = roles(lifecycle)
    for state in lifecycle.states:
        if state.phase == "ready" and (state.name, "claim") not in known:
            what = f"state '{state.name}' is ready but no claim leaves it"
            yield problem("ready_without_claim", f"{what}; add move('{state.name}', 'claim', …) or make it parked")


def _is_systems(lifecycle: Lifecycle, state: State, verb: str) -> bool:
    return "reconciler" in roles(lifecycle).get((state.name, verb), ())


RULES: Final = (_expiry, _timeouts, _waits, _budget, _cancels, _claimable)
