"""The declared moves of a lifecycle, as the rows by which a schema refuses all others."""

from detent.lifecycle import Lifecycle
from detent.lifecycle.words import NOTING
from detent.store.rows import Row


def moves_of(lifecycle: Lifecycle) -> set[Row]:
    """Every leg of the compiled table. What leaves a note, and a result that brings its start along, are no moves."""
    table = lifecycle.table
    first = table.start.leg.state
    moves: set[Row] = {("", "enqueue", first.name, first.phase, first.outcome)}
    for source, routes in table.routes.items():
        for verb, route in routes.items():
            if verb in NOTING or route.implied is not None:
                continue
            states = [leg.state for leg in (route.forward, route.recovery) if leg is not None]
            moves |= {(source, verb, state.name, state.phase, state.outcome) for state in states}
    return moves
