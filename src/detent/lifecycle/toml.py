"""A lifecycle written in TOML: the same fields, the same check, no unknown key. Reads text, not files."""

import re
import tomllib
from collections.abc import Collection
from typing import Any, Final

import msgspec

from detent.errors import InvalidArgument, LifecycleError
from detent.lifecycle.lifecycle import Lifecycle
from detent.lifecycle.model import roles_of, sources_of, split
from detent.lifecycle.problems import Problem, problem
from detent.lifecycle.words import EXPIRY_ANSWERS, GROUPS, OUTCOMES, PHASES, ROLES, TIMEOUT_ANSWERS, VERBS

# msgspec says what is wrong and where; by the key it was found at, this says what to write instead.
VOCABULARIES: Final[dict[str, tuple[str, Collection[str]]]] = {
    "phase": ("unknown_phase", PHASES),
    "outcome": ("unknown_outcome", OUTCOMES),
    "verb": ("unknown_verb", VERBS),
    "by": ("unknown_role", (*ROLES, *GROUPS)),
    "on_expiry": ("bad_answer", EXPIRY_ANSWERS),
    "on_timeout": ("bad_answer", TIMEOUT_ANSWERS),
}
PATH: Final = re.compile(r" - at `\$\.?(?P<path>.*)`$")


def from_toml(text: str) -> Lifecycle:
    """The lifecycle that the text declares. Raises `LifecycleError`, whatever is wrong with it."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise LifecycleError("?", [problem("bad_toml", f"this is not TOML: {wrong}; mend it there")]) from wrong
    try:
        return msgspec.convert(_spelled_out(data), Lifecycle)
    except msgspec.ValidationError as wrong:
        raise LifecycleError(_name(data), [_explain(str(wrong))]) from wrong
    except InvalidArgument as wrong:
        raise LifecycleError(_name(data), [(wrong.code, f"defaults: {wrong}")]) from wrong


def _name(data: dict[str, Any]) -> str:
    return str(data.get("name", "?"))


def _spelled_out(data: dict[str, Any]) -> dict[str, Any]:
    moves = data.get("moves")
    return data | {"moves": [_spell_out(row) for row in moves]} if isinstance(moves, list) else data


def _spell_out(row: Any) -> Any:
    """`from` and `by` may be one string, with commas, as in Python. Anything odder is left for msgspec to refuse."""
    if not isinstance(row, dict):
        return row
    sources, by = row.get("from"), row.get("by")
    if isinstance(sources, str):
        row = row | {"from": sources_of(sources)}
    if isinstance(by, str):
        by = split(by)
    if isinstance(by, list | tuple) and all(isinstance(word, str) for word in by):
        row = row | {"by": roles_of(by)}
    return row


def _explain(message: str) -> Problem:
    found = PATH.search(message)
    path = found["path"] if found else ""
    what = PATH.sub("", message) + (f" at {path}" if path else "")
    if "unknown field" in message:
        return problem("unknown_key", f"{what}; remove the key or mend its spelling")
    if "missing required field" in message:
        return problem("missing_key", f"{what}; add it")
    key = re.sub(r"\[.*?\]", "", path).rpartition(".")[2]
    if "Invalid enum value" in message and key in VOCABULARIES:
        code, words = VOCABULARIES[key]
        return problem(code, f"{what}; use one of {', '.join(words)}")
    return problem("bad_type", f"{what}; give a value of the type expected")
