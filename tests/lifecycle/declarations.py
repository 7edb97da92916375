"""The smallest sound lifecycle, and ways to break it."""

from typing import Any

from detent.lifecycle import Move, State, move

STATES = (
    State("waiting", "ready"),
    State("working", "active"),
    State("done", "ended", "success"),
    State("broken", "ended", "failure"),
)
MOVES = (
    move("-", "enqueue", "waiting", by="client"),
    move("waiting", "claim", "working", by="worker"),
    move("working", "complete", "done", by="owner"),
    move("working", "expire", "broken", by="reconciler"),
)


def declaration(**changes: Any) -> dict[str, Any]:
    return {"name": "tiny", "version": 1, "states": STATES, "moves": MOVES} | changes


def with_rows(*rows: State | Move, without: str = "", **changes: Any) -> dict[str, Any]:
    """The smallest lifecycle with some rows more; a state replaces its namesake, and the moves of one verb may go."""
    states = {state.name: state for state in (*STATES, *rows) if isinstance(state, State)}
    moves = tuple(row for row in (*MOVES, *rows) if isinstance(row, Move) and (row.verb != without or row in rows))
    return declaration(**{"states": tuple(states.values()), "moves": moves} | changes)
