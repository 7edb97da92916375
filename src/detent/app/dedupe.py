"""Dedupe keys that follow from the arguments."""

from collections.abc import Callable, Iterable
from string import Formatter
from typing import Any

from detent.app.hints import bad
from detent.app.options import Dedupe
from detent.errors import InvalidArgument, shown

KeyOf = Callable[[dict[str, Any]], str | None]


def key_of(kind: str, dedupe: Dedupe | None, parameters: Iterable[str]) -> KeyOf:
    """A function from arguments to their key; None: no key, and so as many jobs as are asked for."""
    if dedupe is None:
        return lambda arguments: None
    if isinstance(dedupe, str):
        _check_names(kind, dedupe, set(parameters))
        return lambda arguments: dedupe.format(**arguments)
    if not callable(dedupe):
        raise bad(kind, f"dedupe is {shown(dedupe)}; give a format string or a function of the arguments")
    return lambda arguments: _checked(kind, dedupe(**arguments))


def _check_names(kind: str, template: str, parameters: set[str]) -> None:
    try:
        named = {name for _, name, _, _ in Formatter().parse(template) if name is not None}
    except ValueError as wrong:
        raise bad(kind, f"dedupe is {shown(template)}: {wrong}") from wrong
    roots = {name.partition(".")[0].partition("[")[0] for name in named}
    for name in sorted(roots - parameters):
        there = ", ".join(sorted(parameters)) or "none"
        raise bad(kind, f"dedupe names '{{{name}}}'; its parameters are {there}")


def _checked(kind: str, key: object) -> str | None:
    if key is None or isinstance(key, str):
        return key
    raise InvalidArgument(f"job '{kind}': dedupe= returned {shown(key)}; it has to return a string, or None for no key")
