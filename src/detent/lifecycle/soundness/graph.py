"""A lifecycle seen as a graph: its edges, who may take them, and what can be reached along them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from detent.lifecycle.model import SAME, Move, State

if TYPE_CHECKING:
    from detent.lifecycle.lifecycle import Lifecycle

Graph = Mapping[str, set[str]]


def edges(lifecycle: Lifecycle) -> Iterator[tuple[Move, State, State]]:
    """Every declared (move, source, target), self-moves resolved; enqueue has no source and is left out."""
    states = lifecycle.by_name
    for move in lifecycle.moves:
        for source in move.sources:
            yield move, states[source], states[source if move.target == SAME else move.target]


def roles(lifecycle: Lifecycle) -> dict[tuple[str, str], set[str]]:
    """By (state, verb): everyone who may ask for the verb there."""
    found: dict[tuple[str, str], set[str]] = {}
    for move, source, _ in edges(lifecycle):
        found.setdefault((source.name, move.verb), set()).update(move.by)
    return found


def neighbours(lifecycle: Lifecycle, *, backwards: bool = False, forward_only: bool = False) -> Graph:
    graph: dict[str, set[str]] = {state.name: set() for state in lifecycle.states}
    for move, source, target in edges(lifecycle):
        if source is target or (forward_only and move.recovery):
            continue
        here, there = (target, source) if backwards else (source, target)
        graph[here.name].add(there.name)
    return graph


def closure(start: set[str], graph: Graph) -> set[str]:
    reached, frontier = set(start), list(start)
    while frontier:
        fresh = graph[frontier.pop()] - reached
        reached |= fresh
        frontier.extend(fresh)
    return reached


def row(move: Move) -> str:
    """A move as messages name it."""
    return f"'{move.verb}' ({', '.join(move.sources) or 'nowhere'} → {move.target})"
