"""The two rows a lifecycle is made of: states and moves."""

from collections.abc import Iterable
from typing import Final, cast

from msgspec import Struct

from detent.errors import InvalidArgument
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
    return Move(verb=verb, sources=sources_of(sources), target=target, by=roles_of(split(by)), recovery=recovery)


def sources_of(words: str) -> tuple[str, ...]:
    return () if words == START else split(words)


def roles_of(words: Iterable[str]) -> tuple[Role, ...]:
    """The roles, each once, with `system` and `control plane` spelled out. Unknown ones are left for the check."""
    roles = (role for word in words for role in GROUPS.get(word, (cast("Role", word),)))
    return tuple(dict.fromkeys(roles))


def split(words: str) -> tuple[str, ...]:
    if not isinstance(words, str):
        raise InvalidArgument(f"{words!r} is no string; name several in one, with commas: 'queued, running'")
    return tuple(word.strip() for word in words.split(","))
