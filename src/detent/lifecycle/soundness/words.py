"""Words: every name is usable, and every name that is used is known."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Final

from detent.lifecycle.model import SAME
from detent.lifecycle.problems import Problem, problem
from detent.lifecycle.soundness.graph import row
from detent.lifecycle.words import EVENT_TYPES, EXPIRY_ANSWERS, OUTCOMES, PHASES, ROLES, TIMEOUT_ANSWERS, VERBS

if TYPE_CHECKING:
    from detent.lifecycle.lifecycle import Lifecycle

NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
USABLE: Final = "use letters, digits, '_' and '-', a letter first, at most 64"


def _names(lifecycle: Lifecycle) -> Iterator[Problem]:
    if not NAME.fullmatch(lifecycle.name):
        yield problem("bad_name", f"the name {lifecycle.name!r} is not usable; {USABLE}")
    if lifecycle.version < 1:
        yield problem("bad_version", f"version is {lifecycle.version}; versions start at 1")
    seen: set[str] = set()
    for state in lifecycle.states:
        if not NAME.fullmatch(state.name) or state.name == SAME:
            yield problem("bad_name", f"state {state.name!r} has no usable name; {USABLE}, and not '{SAME}'")
        if state.name in seen:
            yield problem("duplicate_state", f"state '{state.name}' is declared twice; keep one of them")
        seen.add(state.name)


def _event_names(lifecycle: Lifecycle) -> Iterator[Problem]:
    ends = {f"state '{state.name}'": state.event for state in lifecycle.states if state.event is not None}
    verbs = {f"events['{verb}']": event for verb, event in lifecycle.events.items()}
    old = {f"legacy_events['{event}']": name for event, name in lifecycle.legacy_events.items()}
    for where, event in (ends | verbs | old).items():
        if not NAME.fullmatch(event):
            yield problem("bad_name", f"{where} calls its event {event!r}; {USABLE}")


def _state_words(lifecycle: Lifecycle) -> Iterator[Problem]:
    for state in lifecycle.states:
        where = f"state '{state.name}'"
        yield from _known("unknown_phase", f"{where} has the phase", state.phase, PHASES)
        if state.outcome is not None:
            yield from _known("unknown_outcome", f"{where} has the outcome", state.outcome, OUTCOMES)


def _move_words(lifecycle: Lifecycle) -> Iterator[Problem]:
    for move in lifecycle.moves:
        yield from _known("unknown_verb", f"{row(move)} uses the verb", move.verb, VERBS)
        for role in move.by:
            yield from _known("unknown_role", f"{row(move)} is given to", role, ROLES)


def _setting_words(lifecycle: Lifecycle) -> Iterator[Problem]:
    for verb in lifecycle.events:
        yield from _known("unknown_verb", "events names", verb, EVENT_TYPES)
    yield from _known("bad_answer", "on_expiry is", lifecycle.on_expiry, EXPIRY_ANSWERS)
    yield from _known("bad_answer", "on_timeout is", lifecycle.on_timeout, TIMEOUT_ANSWERS)


def _known(code: str, where: str, word: str, known: Collection[str]) -> Iterator[Problem]:
    if word not in known:
        yield problem(code, f"{where} {word!r}; use one of {', '.join(known)}")


def _declared_states(lifecycle: Lifecycle) -> Iterator[Problem]:
    states = lifecycle.by_name
    for move in lifecycle.moves:
        for name in (*move.sources, move.target):
            if name != SAME and name not in states:
                message = f"{row(move)} names '{name}', which is no state; add State('{name}', …) or mend the name"
                yield problem("unknown_state", message)
    for name in lifecycle.defaults.timeouts:
        if name not in states:
            yield problem("unknown_state", f"defaults.timeouts names '{name}', which is no state; mend the name")


def _aliases(lifecycle: Lifecycle) -> Iterator[Problem]:
    states = lifecycle.by_name
    for old, new in lifecycle.aliases.items():
        if new not in states:
            message = f"alias '{old}' points at '{new}', which is no state; point it at a declared one"
            yield problem("unknown_state", message)
        if old in states:
            yield problem("alias_clash", f"alias '{old}' is also a state; rename one of them")


RULES: Final = (_names, _event_names, _state_words, _move_words, _setting_words, _declared_states, _aliases)
