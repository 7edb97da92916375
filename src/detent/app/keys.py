"""Keys that follow from the arguments: of jobs that are not made twice, and of jobs that share a limit."""

from collections.abc import Callable, Iterable
from string import Formatter
from typing import Any

from detent.app.hints import bad
from detent.app.options import KeyMaker
from detent.errors import InvalidArgument, shown

KeyOf = Callable[[dict[str, Any]], str | None]


def key_of(kind: str, option: str, given: KeyMaker | None, parameters: Iterable[str]) -> KeyOf:
    """A function from arguments to their key, as this option says; None: no key."""
    if given is None:
        return lambda arguments: None
    if isinstance(given, str):
        _check_names(kind, option, given, set(parameters))
        return lambda arguments: given.format(**arguments)
    if not callable(given):
        raise bad(kind, f"{option} is {shown(given)}; give a format string or a function of the arguments")
    return lambda arguments: _checked(kind, option, given(**arguments))


def _check_names(kind: str, option: str, template: str, parameters: set[str]) -> None:
    try:
        named = {name for _, name, _, _ in Formatter().parse(template) if name is not None}
    except ValueError as wrong:
        raise bad(kind, f"{option} is {shown(template)}: {wrong}") from wrong
    roots = {name.partition(".")[0].partition("[")[0] for name in named}
    for name in sorted(roots - parameters):
        there = ", ".join(sorted(parameters)) or "none"
        raise bad(kind, f"{option} names '{{{name}}}'; its parameters are {there}")


def _checked(kind: str, option: str, key: object) -> str | None:
    if key is None or isinstance(key, str):
        return key
    raise InvalidArgument(
        f"job '{kind}': {option}= returned {shown(key)}; it has to return a string, or None for no key"
    )
