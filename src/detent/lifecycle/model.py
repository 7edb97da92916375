"""The two rows a lifecycle is made of: states and moves."""

from typing import Final

from msgspec import Struct

from detent.lifecycle.words import GROUPS, Outcome, Phase, Role, Verb

SAME: Final = "same"  # the target of a self-move
START: Final = "-"  # the source of enqueue in a table row


class State(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A position a job can rest in. Stores know its phase only, never its name.

    `timer`: a parked state that is left by requeue, once due and not before. `event`: what entering this end is called.
    """

    name: str
    phase: Phase
    outcome: Outcome | None = None
    timeout_s: float | None = None
    timer: bool = False
    event: str | None = None


class Move(
    Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, rename={"sources": "from", "target": "to"}
):
    """One row of a lifecycle's table: from these states, this verb, to that state, by these roles."""

    verb: Verb
    target: str
    by: tuple[Role, ...]
    sources: tuple[str, ...] = ()
    recovery: bool = False


def move(sources: str, verb: Verb, target: str, *, by: str, recovery: bool = False) -> Move:
    """A row as one would write it down: `move("held, busy", "cancel", "off", by="client, system")`."""
    names = () if sources == START else _split(sources)
    roles = tuple(role for word in _split(by) for role in GROUPS.get(word, (word,)))
    return Move(verb=verb, sources=names, target=target, by=roles, recovery=recovery)  # type: ignore[arg-type]


def _split(words: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in words.split(","))
