"""A lifecycle's moves, read off the declaration itself, for hands that write to a store past Detent."""

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from detent.lifecycle import SAME, Lifecycle
from detent.lifecycle.words import LEASED, OUTCOMES, PHASES

Triple = tuple[str, str, str]  # source, verb, target
Columns = dict[str, Any]


class Bringing(Protocol):
    """A hand at whatever store."""

    def bring(self, lifecycle: Lifecycle, state: str, job: int = 1) -> None: ...


# Whether a store takes a move of a job, with these columns: `(lifecycle, triple, job, **columns)`.
LetIn = Callable[..., bool]


def let_in_with_another_phase(
    hand: Bringing, lifecycle: Lifecycle, is_let_in: LetIn, fitting: Callable[[str, str | None], Columns]
) -> list[tuple[Triple, str]]:
    """Of every declared move, the phases that its target does not have and that a store takes all the same."""
    let_in = []
    for job, triple in enumerate(sorted(declared(lifecycle)), 1):
        hand.bring(lifecycle, triple[0], job)
        for phase in set(PHASES) - {lifecycle.by_name[triple[2]].phase}:
            wrong = fitting(phase, "failure" if phase == "ended" else None)
            let_in += [(triple, phase)] if is_let_in(lifecycle, triple, job, **wrong) else []
    return let_in


def let_in_with_another_outcome(
    hand: Bringing, lifecycle: Lifecycle, is_let_in: LetIn, fitting: Callable[[str, str | None], Columns]
) -> list[Triple]:
    """Of every declared end, those that a store takes with an outcome that the state does not have."""
    let_in = []
    for job, triple in enumerate(sorted(declared(lifecycle)), 1):
        right = lifecycle.by_name[triple[2]].outcome
        if right is None:
            continue
        hand.bring(lifecycle, triple[0], job)
        for outcome in set(OUTCOMES) - {right}:
            let_in += [triple] if is_let_in(lifecycle, triple, job, **fitting("ended", outcome)) else []
    return let_in


def declared(lifecycle: Lifecycle) -> set[Triple]:
    """Every move, read off the declaration itself; who may cancel a leased job may also ask it to stop."""
    found = {
        (source, move.verb, source if move.target == SAME else move.target)
        for move in lifecycle.moves
        for source in move.sources
    }
    leased = {state.name for state in lifecycle.states if state.phase in LEASED}
    return found | {(source, "request_cancel", source) for source, verb, _ in found if verb == "cancel"} & {
        (state, "request_cancel", state) for state in leased
    }


def way_to(lifecycle: Lifecycle, state: str) -> list[Triple]:
    """The shortest row of declared moves from the first state to this one."""
    first = lifecycle.table.start.leg.state.name
    ways: dict[str, list[Triple]] = {first: []}
    waiting = deque([first])
    while waiting:
        source = waiting.popleft()
        for triple in sorted(declared(lifecycle)):
            if triple[0] == source and triple[2] not in ways:
                ways[triple[2]] = [*ways[source], triple]
                waiting.append(triple[2])
    return ways[state]
