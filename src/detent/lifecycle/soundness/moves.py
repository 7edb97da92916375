"""Moves: each is somebody's, has one answer, and leads where its verb can lead. What a verb needs is in `verbs`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from detent.lifecycle.problems import Problem, problem
from detent.lifecycle.soundness.graph import edges, row
from detent.lifecycle.soundness.verbs import VERB_RULES, Edge
from detent.lifecycle.words import LEASED, RECOVERING, ROLES

if TYPE_CHECKING:
    from detent.lifecycle.lifecycle import Lifecycle


def _somebodys(lifecycle: Lifecycle) -> Iterator[Problem]:
    for move in lifecycle.moves:
        if not move.by:
            remedy = f"give it to at least one of {', '.join(ROLES)}"
            yield problem("verb_without_role", f"{row(move)} is nobody's; {remedy}")


def _start(lifecycle: Lifecycle) -> Iterator[Problem]:
    starts = [move for move in lifecycle.moves if move.verb == "enqueue"]
    if len(starts) != 1 or starts[0].sources:
        what = f"enqueue is declared by {', '.join(map(row, starts)) or 'no move'}"
        yield problem("no_single_start", f"{what}; declare exactly one, from nowhere, to the state jobs begin in")
    for move in starts:
        state = lifecycle.by_name.get(move.target)
        if state is None or state.phase not in ("parked", "ready"):
            what = f"enqueue leads to '{move.target}', but a new job has no owner and no end"
            yield problem("bad_start", f"{what}; lead it to a parked or ready state")
    for move in lifecycle.moves:
        if move.verb != "enqueue" and not move.sources:
            yield problem("no_source", f"{row(move)} starts nowhere; name the states it leaves")


def _one_answer(lifecycle: Lifecycle) -> Iterator[Problem]:
    """From a state a verb has one target; or two, the way back while the budget lasts and the end when it is used up.

    That the second one is an end is what the verb itself demands.
    """
    seen: dict[tuple[str, str, bool], str] = {}
    for move, source, target in edges(lifecycle):
        key = (source.name, move.verb, move.recovery)
        known = seen.get(key)
        seen[key] = target.name
        if known == target.name:
            what = f"'{move.verb}' from '{source.name}' to '{target.name}' is declared twice"
            yield problem("duplicate_move", f"{what}; declare it once, with all its roles")
        elif known is not None:
            what = f"'{move.verb}' from '{source.name}' leads to '{known}' and to '{target.name}'"
            yield problem("ambiguous_move", f"{what}; keep one target, or one way back (recovery=True) and one end")


def _leases(lifecycle: Lifecycle) -> Iterator[Problem]:
    for move, source, target in edges(lifecycle):
        if source.phase in LEASED:
            continue
        if target.phase in LEASED and move.verb != "claim":
            what = f"'{move.verb}' leads '{source.name}' into the leased '{target.name}', but only claim takes a lease"
            yield problem("lease_without_claim", f"{what}; declare it as claim, or lead it elsewhere")
        if set(move.by) == {"owner"}:
            what = f"'{move.verb}' from '{source.name}' is the owner's, but nobody owns a {source.phase} job"
            yield problem("owner_without_lease", f"{what}; give it to another role")


def _verbs(lifecycle: Lifecycle) -> Iterator[Problem]:
    """What each verb demands of the states it leaves and enters. An ended source is reported elsewhere."""
    for move, source, target in edges(lifecycle):
        rule = VERB_RULES.get(move.verb)
        if rule is not None and source.phase != "ended":
            yield from rule(lifecycle, Edge(move, source, target))
        if move.recovery and move.verb not in RECOVERING:
            what = f"'{move.verb}' from '{source.name}' is declared recovery"
            remedy = f"drop recovery from it, or use one of {', '.join(sorted(RECOVERING))}"
            yield problem("not_a_recovery", f"{what}; {remedy}")


RULES: Final = (_somebodys, _start, _one_answer, _leases, _verbs)
