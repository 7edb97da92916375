"""A lifecycle as plain data for readers: `lifecycle show --json`, the docs and the HTTP API use this one shape."""

from typing import Any

from detent.lifecycle.lifecycle import Lifecycle
from detent.lifecycle.model import SAME
from detent.lifecycle.words import LEASED


def describe(lifecycle: Lifecycle) -> dict[str, Any]:
    """Each way from a state to another has its own entry; `from` is None for enqueue. Implied moves are included."""
    return {
        "name": lifecycle.name,
        "version": lifecycle.version,
        "states": [{"name": state.name, "phase": state.phase} for state in lifecycle.states],
        "moves": rows(lifecycle),
    }


def rows(lifecycle: Lifecycle) -> list[dict[str, Any]]:
    listed = []
    for move in lifecycle.moves:
        for source in move.sources or (None,):
            target = source if move.target == SAME else move.target
            listed.append(_row(move.verb, source, target, move.by, recovery=move.recovery))
    return listed + _implied(lifecycle)


def joined_rows(lifecycle: Lifecycle) -> list[dict[str, Any]]:
    """For reading: the same rows, those that differ in their source alone joined. `to` is `same` for a self-move."""
    joined: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows(lifecycle):
        target = SAME if row["from"] == row["to"] else row["to"]
        key = (row["verb"], target, tuple(row["by"]), row["recovery"])
        entry = joined.setdefault(key, row | {"from": [], "to": target})
        entry["from"] += [row["from"]] if row["from"] is not None else []
    return list(joined.values())


def _implied(lifecycle: Lifecycle) -> list[dict[str, Any]]:
    """ALL-17: where a leased state can be cancelled it can be asked to stop."""
    declared = {(move.verb, source) for move in lifecycle.moves for source in move.sources}
    listed = []
    for state in lifecycle.states:
        route = lifecycle.table.routes[state.name].get("request_cancel")
        if route is not None and state.phase in LEASED and ("request_cancel", state.name) not in declared:
            listed.append(_row("request_cancel", state.name, state.name, route.by, recovery=False))
    return listed


def _row(verb: str, source: str | None, target: str | None, by: tuple[str, ...], *, recovery: bool) -> dict[str, Any]:
    return {"verb": verb, "from": source, "to": target, "by": list(by), "recovery": recovery}
