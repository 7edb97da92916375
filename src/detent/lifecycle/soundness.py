"""The check every lifecycle passes when it is made. Each rule yields (code, message); a message names the state and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from detent.errors import LifecycleError
from detent.lifecycle.model import SAME, Move, State
from detent.lifecycle.words import (
    EVENT_TYPES,
    LEASED,
    OUTCOMES,
    PHASES,
    RECOVERING,
    ROLES,
    VERBS,
    WORKING,
)

if TYPE_CHECKING:
    from detent.lifecycle.lifecycle import Lifecycle

    Rule = Callable[[Lifecycle], Iterator["Problem"]]

Problem = tuple[str, str]

NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def check(lifecycle: Lifecycle) -> None:
    """Raise with every problem found. Later rules assume what earlier groups established, so a group stops the next."""
    for group in (WORDS, SHAPES, PATHS):
        problems = [problem for rule in group for problem in rule(lifecycle)]
        if problems:
            raise LifecycleError(lifecycle.name, problems)


def edges(lifecycle: Lifecycle) -> Iterator[tuple[Move, State, State]]:
    """Every declared (move, source, target), self-moves resolved; enqueue has no source and is left out."""
    states = lifecycle.by_name
    for move in lifecycle.moves:
        for source in move.sources:
            yield move, states[source], states[source if move.target == SAME else move.target]


# -- words: every name is known ------------------------------------------------------------------------------------


def _names(lifecycle: Lifecycle) -> Iterator[Problem]:
    if not NAME.fullmatch(lifecycle.name):
        yield "bad_name", f"the name {lifecycle.name!r} is not usable; use letters, digits, '_' and '-', at most 64"
    if lifecycle.version < 1:
        yield "bad_version", f"version is {lifecycle.version}; versions start at 1"
    seen: set[str] = set()
    for state in lifecycle.states:
        if not NAME.fullmatch(state.name) or state.name == SAME:
            yield "bad_name", f"state {state.name!r} has no usable name; use letters, digits, '_' and '-', not 'same'"
        if state.name in seen:
            yield "duplicate_state", f"state '{state.name}' is declared twice; keep one of them"
        seen.add(state.name)


def _vocabulary(lifecycle: Lifecycle) -> Iterator[Problem]:
    for state in lifecycle.states:
        if state.phase not in PHASES:
            yield "unknown_phase", f"state '{state.name}' has the phase {state.phase!r}; use one of {', '.join(PHASES)}"
        if state.outcome is not None and state.outcome not in OUTCOMES:
            yield (
                "unknown_outcome",
                f"state '{state.name}' has the outcome {state.outcome!r}; use one of {', '.join(OUTCOMES)}",
            )
    for move in lifecycle.moves:
        if move.verb not in VERBS:
            yield "unknown_verb", f"{_row(move)} uses the verb {move.verb!r}; use one of {', '.join(VERBS)}"
        for role in move.by:
            if role not in ROLES:
                yield "unknown_role", f"{_row(move)} is given to {role!r}; use one of {', '.join(ROLES)}"
    for key in lifecycle.events:
        if key not in EVENT_TYPES:
            yield "unknown_verb", f"events names {key!r}; use one of {', '.join(EVENT_TYPES)}"
    for field, verb in (("on_expiry", lifecycle.on_expiry), ("on_timeout", lifecycle.on_timeout)):
        if verb not in VERBS:
            yield "unknown_verb", f"{field} is {verb!r}; use one of {', '.join(VERBS)}"


def _known_states(lifecycle: Lifecycle) -> Iterator[Problem]:
    names = lifecycle.by_name
    for move in lifecycle.moves:
        for name in (*move.sources, move.target):
            if name != SAME and name not in names:
                yield (
                    "unknown_state",
                    f"{_row(move)} names '{name}', which is no state; add State('{name}', …) or mend the name",
                )
    for old, new in lifecycle.aliases.items():
        if new not in names:
            yield "unknown_state", f"alias '{old}' points at '{new}', which is no state; point it at a declared one"
        if old in names:
            yield "alias_clash", f"alias '{old}' is also a state; rename one of them"
    for name in lifecycle.defaults.timeouts:
        if name not in names:
            yield "unknown_state", f"defaults.timeouts names '{name}', which is no state; mend the name"


# -- shapes: each row is a move that its phases allow ----------------------------------------------------------------


def _ends(lifecycle: Lifecycle) -> Iterator[Problem]:
    for state in lifecycle.states:
        if state.phase == "ended" and state.outcome is None:
            yield (
                "end_without_outcome",
                f"state '{state.name}' is ended but says not how; add outcome='success', 'failure' or 'cancelled'",
            )
        if state.phase != "ended" and state.outcome is not None:
            yield (
                "outcome_without_end",
                f"state '{state.name}' has an outcome but is {state.phase}; make it ended or drop the outcome",
            )
        if state.timer and state.phase != "parked":
            yield (
                "timer_not_parked",
                f"state '{state.name}' is a timer but {state.phase}; only a parked state waits on a timer",
            )
    for move, source, _ in edges(lifecycle):
        if source.phase == "ended":
            yield (
                "move_out_of_end",
                f"'{move.verb}' leaves '{source.name}', which is ended and so final; drop '{source.name}' from it, "
                "and run a finished job again with rerun",
            )


def _roles(lifecycle: Lifecycle) -> Iterator[Problem]:
    for move in lifecycle.moves:
        if not move.by:
            yield "verb_without_role", f"{_row(move)} is nobody's; add by=(…), at least one of {', '.join(ROLES)}"


def _enqueue(lifecycle: Lifecycle) -> Iterator[Problem]:
    starts = [move for move in lifecycle.moves if move.verb == "enqueue"]
    if len(starts) != 1 or starts[0].sources:
        yield (
            "no_single_start",
            "there must be exactly one enqueue, from nowhere; it names the state a job is created in",
        )
    for move in starts:
        state = lifecycle.by_name.get(move.target)
        if state is None or state.phase not in ("parked", "ready"):
            yield "bad_start", f"enqueue leads to '{move.target}', which is not parked or ready; a new job has no owner"
    for move in lifecycle.moves:
        if move.verb != "enqueue" and not move.sources:
            yield "no_source", f"{_row(move)} starts nowhere; name the states it leaves"


def _leases(lifecycle: Lifecycle) -> Iterator[Problem]:
    for move, source, target in edges(lifecycle):
        enters = source.phase not in LEASED and target.phase in LEASED
        if enters and move.verb != "claim":
            yield (
                "lease_without_claim",
                f"'{move.verb}' leads '{source.name}' into the leased '{target.name}'; only claim takes a lease",
            )
        if move.verb == "claim" and not enters:
            yield (
                "claim_without_lease",
                f"claim leads '{source.name}' to '{target.name}'; it must go from ready or parked to held or active",
            )
        if move.verb == "start" and (source.phase, target.phase) != ("held", "active"):
            yield "bad_start_move", f"start leads '{source.name}' to '{target.name}'; it must go from held to active"
        if move.verb == "renew" and (source.phase not in LEASED or source is not target):
            yield "bad_renew", f"renew on '{source.name}' must be a self-move of a held or active state; use to='same'"
        if "owner" in move.by and "worker" not in move.by and set(move.by) <= WORKING and source.phase not in LEASED:
            yield (
                "owner_without_lease",
                f"'{move.verb}' from '{source.name}' is the owner's, but nobody owns a {source.phase} job; name another role",
            )


def _outcomes(lifecycle: Lifecycle) -> Iterator[Problem]:
    wanted = {
        "complete": ("success",),
        "fail": ("failure",),
        "dead_letter": ("failure",),
        "deny": ("failure",),
        "cancel": ("cancelled", "failure"),
    }
    for move, source, target in edges(lifecycle):
        outcomes = wanted.get(move.verb)
        if outcomes and target.outcome not in outcomes:
            yield (
                "wrong_outcome",
                f"'{move.verb}' leads '{source.name}' to '{target.name}'; it must end the job with outcome {' or '.join(outcomes)}",
            )


def _recoveries(lifecycle: Lifecycle) -> Iterator[Problem]:
    for move, source, target in edges(lifecycle):
        back = target.phase in ("ready", "parked") and (
            source.phase in LEASED or (source.phase == "parked" and target.phase == "ready")
        )
        if move.recovery and (move.verb not in RECOVERING or not back):
            yield (
                "not_a_recovery",
                f"'{move.verb}' from '{source.name}' to '{target.name}' is declared recovery; that is for "
                f"{', '.join(sorted(RECOVERING))}, from held, active or parked back to ready or parked",
            )


def _one_answer(lifecycle: Lifecycle) -> Iterator[Problem]:
    """A verb from a state has one target, or two: the way back while the budget lasts, and the end when it is used up."""
    seen: dict[tuple[str, str, bool], str] = {}
    for move, source, target in edges(lifecycle):
        key = (source.name, move.verb, move.recovery)
        if seen.setdefault(key, target.name) != target.name or (
            (key[0], key[1], not key[2]) in seen and target.phase != "ended" and not move.recovery
        ):
            yield (
                "ambiguous_move",
                f"'{move.verb}' from '{source.name}' leads to '{target.name}' and elsewhere; keep one target, or one recovery and one ended",
            )


def _timeouts(lifecycle: Lifecycle) -> Iterator[Problem]:
    verbs = _verbs_from(lifecycle)
    for state in lifecycle.states:
        limited = state.timeout_s is not None or state.name in lifecycle.defaults.timeouts
        if state.timeout_s is not None and not state.timeout_s > 0:
            yield "bad_timeout", f"state '{state.name}' has timeout_s={state.timeout_s}; it must be more than 0"
        if limited and lifecycle.on_timeout not in verbs[state.name]:
            yield (
                "no_timeout_answer",
                f"state '{state.name}' has a timeout but no '{lifecycle.on_timeout}' move; add one or drop the timeout",
            )
        if state.timer and "requeue" not in verbs[state.name]:
            yield (
                "no_timer_answer",
                f"state '{state.name}' waits on a timer but no requeue leaves it; add move('{state.name}', 'requeue', …, recovery=True)",
            )


# -- paths: every state is on a way from the start to an end ---------------------------------------------------------


def _expiry(lifecycle: Lifecycle) -> Iterator[Problem]:
    verbs = _verbs_from(lifecycle)
    for state in lifecycle.states:
        if state.phase in LEASED and lifecycle.on_expiry not in verbs[state.name]:
            yield (
                "no_expiry_answer",
                f"state '{state.name}' is leased but has no answer when the lease runs out; "
                f"add move('{state.name}', '{lifecycle.on_expiry}', …, by='reconciler', recovery=True)",
            )


def _claimable(lifecycle: Lifecycle) -> Iterator[Problem]:
    verbs = _verbs_from(lifecycle)
    for state in lifecycle.states:
        if state.phase == "ready" and "claim" not in verbs[state.name]:
            yield (
                "ready_without_claim",
                f"state '{state.name}' is ready but no claim leaves it; add one or make it parked",
            )


def _reachable(lifecycle: Lifecycle) -> Iterator[Problem]:
    first = next(move.target for move in lifecycle.moves if move.verb == "enqueue")
    reached = _closure({first}, _neighbours(lifecycle))
    for state in lifecycle.states:
        if state.name not in reached:
            yield "unreachable_state", f"no move leads to state '{state.name}'; add one or remove the state"


def _way_out(lifecycle: Lifecycle) -> Iterator[Problem]:
    ends = {state.name for state in lifecycle.states if state.phase == "ended"}
    if not ends:
        yield "no_end", "no state is ended; add at least one with an outcome"
    finishing = _closure(ends, _neighbours(lifecycle, backwards=True))
    for state in lifecycle.states:
        if state.name not in finishing:
            yield (
                "no_path_to_end",
                f"a job in state '{state.name}' can never end; add a move that leads towards an ended state",
            )


def _forward_cycle(lifecycle: Lifecycle) -> Iterator[Problem]:
    forward = _neighbours(lifecycle, forward_only=True)
    for state in lifecycle.states:
        if state.name in _closure(forward[state.name], forward):
            yield (
                "forward_cycle",
                f"forward moves lead from state '{state.name}' back to it; forward never goes back: "
                "declare the returning move with recovery=True or send it elsewhere",
            )
            return  # every state of the cycle would say the same


WORDS: Final[tuple[Rule, ...]] = (_names, _vocabulary, _known_states)
SHAPES: Final[tuple[Rule, ...]] = (_ends, _roles, _enqueue, _leases, _outcomes, _recoveries, _one_answer, _timeouts)
PATHS: Final[tuple[Rule, ...]] = (_expiry, _claimable, _reachable, _way_out, _forward_cycle)


def _verbs_from(lifecycle: Lifecycle) -> dict[str, set[str]]:
    verbs: dict[str, set[str]] = {state.name: set() for state in lifecycle.states}
    for move, source, _ in edges(lifecycle):
        verbs[source.name].add(move.verb)
    return verbs


def _neighbours(lifecycle: Lifecycle, *, backwards: bool = False, forward_only: bool = False) -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {state.name: set() for state in lifecycle.states}
    for move, source, target in edges(lifecycle):
        if source is target or (forward_only and move.recovery):
            continue
        here, there = (target, source) if backwards else (source, target)
        graph[here.name].add(there.name)
    return graph


def _closure(start: set[str], graph: Mapping[str, set[str]]) -> set[str]:
    reached, frontier = set(start), list(start)
    while frontier:
        fresh = graph[frontier.pop()] - reached
        reached |= fresh
        frontier.extend(fresh)
    return reached


def _row(move: Move) -> str:
    return f"'{move.verb}' ({', '.join(move.sources) or 'nowhere'} → {move.target})"
