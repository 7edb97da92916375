"""Paths: every state is on a way from the start to an end, and forward never leads back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from detent.lifecycle.problems import Problem, problem
from detent.lifecycle.soundness.graph import closure, neighbours
from detent.lifecycle.words import RECOVERING

if TYPE_CHECKING:
    from detent.lifecycle.lifecycle import Lifecycle


def _reachable(lifecycle: Lifecycle) -> Iterator[Problem]:
    first = next(move.target for move in lifecycle.moves if move.verb == "enqueue")
    reached = closure({first}, neighbours(lifecycle))
    for state in lifecycle.states:
        if state.name not in reached:
            what = f"no way leads from '{first}' to state '{state.name}'"
            yield problem("unreachable_state", f"{what}; add a move to it or remove the state")


def _way_out(lifecycle: Lifecycle) -> Iterator[Problem]:
    ends = {state.name for state in lifecycle.states if state.phase == "ended"}
    if not ends:
        names = ", ".join(lifecycle.by_name)
        yield problem("no_end", f"none of the states ({names}) is ended; add at least one, with an outcome")
        return
    finishing = closure(ends, neighbours(lifecycle, backwards=True))
    for state in lifecycle.states:
        if state.name not in finishing:
            what = f"a job in state '{state.name}' can never end"
            yield problem("no_path_to_end", f"{what}; add a move from it that leads towards an ended state")


def _forward_cycle(lifecycle: Lifecycle) -> Iterator[Problem]:
    forward = neighbours(lifecycle, forward_only=True)
    circle = [name for name in forward if name in closure(forward[name], forward)]
    if circle:
        what = f"forward moves lead in a circle through {', '.join(map(repr, circle))}"
        remedy = f"go back by one of {', '.join(sorted(RECOVERING))}, with recovery=True, or lead it elsewhere"
        yield problem("forward_cycle", f"{what}; {remedy}")


RULES: Final = (_reachable, _way_out, _forward_cycle)
