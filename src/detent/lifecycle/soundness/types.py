"""Types. msgspec checks them in what it decodes, but not in what Python code constructs; this does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, Final

from detent.lifecycle.model import Move, State
from detent.lifecycle.policy import Policy
from detent.lifecycle.problems import Problem, problem

if TYPE_CHECKING:
    from detent.lifecycle.lifecycle import Lifecycle

# What to call it in a message, and how to tell.
Kind = tuple[str, Callable[[Any], bool]]


def _tuple_of(kind: type, called: str) -> Kind:
    return called, lambda value: isinstance(value, tuple) and all(isinstance(item, kind) for item in value)


TEXT: Final[Kind] = "a string", lambda value: isinstance(value, str)
TEXT_OR_NONE: Final[Kind] = "a string or None", lambda value: value is None or isinstance(value, str)
FLAG: Final[Kind] = "True or False", lambda value: isinstance(value, bool)
WHOLE: Final[Kind] = "a whole number", lambda value: type(value) is int
SECONDS: Final[Kind] = (
    "a number of seconds or None",
    lambda value: value is None or (isinstance(value, int | float) and not isinstance(value, bool)),
)
NAMES: Final = _tuple_of(str, "a tuple of strings")
RENAMES: Final[Kind] = (
    "a dict of strings",
    lambda value: isinstance(value, dict) and all(isinstance(word, str) for pair in value.items() for word in pair),
)

LIFECYCLE: Final[dict[str, Kind]] = {
    "name": TEXT,
    "version": WHOLE,
    "states": _tuple_of(State, "a tuple of State"),
    "moves": _tuple_of(Move, "a tuple of Move"),
    "summary": TEXT,
    "events": RENAMES,
    "aliases": RENAMES,
    "legacy_events": RENAMES,
    "on_expiry": TEXT,
    "on_timeout": TEXT,
    "defaults": ("a Policy", lambda value: isinstance(value, Policy)),
    "requires_rev": FLAG,
    "settles_repeats": FLAG,
    "implies_start": FLAG,
}
STATE: Final[dict[str, Kind]] = {
    "name": TEXT,
    "phase": TEXT,
    "outcome": TEXT_OR_NONE,
    "timeout_s": SECONDS,
    "timer": FLAG,
    "event": TEXT_OR_NONE,
}
MOVE: Final[dict[str, Kind]] = {"verb": TEXT, "target": TEXT, "by": NAMES, "sources": NAMES, "recovery": FLAG}


def _lifecycle(lifecycle: Lifecycle) -> Iterator[Problem]:
    """Its own fields first, and those of its rows only where there are rows to look at."""
    problems = list(_wrong_fields(lifecycle, LIFECYCLE, ""))
    yield from problems
    if not problems:
        yield from _rows(lifecycle)


def _rows(lifecycle: Lifecycle) -> Iterator[Problem]:
    for state in lifecycle.states:
        yield from _wrong_fields(state, STATE, f"state {short(state.name)}: ")
    for move in lifecycle.moves:
        yield from _wrong_fields(move, MOVE, f"move {short(move.verb)} from {short(move.sources)}: ")


def _wrong_fields(row: object, kinds: dict[str, Kind], where: str) -> Iterator[Problem]:
    for name, (called, fits) in kinds.items():
        value = getattr(row, name)
        if not fits(value):
            yield problem("bad_type", f"{where}{name} is {short(value)}; give {called}")


RULES: Final = (_lifecycle,)
