"""Reading a function's signature: its parameters, their types, and whether it wants the context."""

import inspect
from collections.abc import Callable
from typing import Any, Final, get_type_hints

from msgspec import Struct

from detent.errors import InvalidArgument

CONTEXT: Final = ("detent.runtime.context", "Context")
_NAMED: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Signature(Struct, frozen=True):
    """`parameters` are those of the payload, without the context; `hints` their types, with Any where none is given."""

    parameters: inspect.Signature
    hints: dict[str, Any]
    returns: Any
    wants_context: bool


def signature_of(function: Callable[..., Any], kind: str) -> Signature:
    hints = _hints(function, kind)
    listed = list(inspect.signature(function).parameters.values())
    wants_context = bool(listed) and _is_context(listed[0], hints)
    payload = listed[1:] if wants_context else listed
    for each in payload:
        _check(each, hints, kind)
    return Signature(
        inspect.Signature(payload),
        {each.name: hints.get(each.name, Any) for each in payload},
        hints.get("return", Any),
        wants_context,
    )


def bad(kind: str, what: str) -> InvalidArgument:
    return InvalidArgument(f"job '{kind}': {what}", code="bad_job_function")


def _check(parameter: inspect.Parameter, hints: dict[str, Any], kind: str) -> None:
    name = parameter.name
    if parameter.kind not in _NAMED:
        raise bad(kind, f"parameter '{parameter}' has no name in a payload; give it named parameters only")
    if _is_context(parameter, hints):
        raise bad(kind, f"parameter '{name}' is the Context; make it the first")
    if name == "self":
        raise bad(kind, "it is a method; declare a function, and make the object inside it")


def _is_context(parameter: inspect.Parameter, hints: dict[str, Any]) -> bool:
    """By its type; or by its name, where it has no type. The class is told by name: it brings the worker along."""
    if parameter.name not in hints:
        return parameter.name == "ctx"
    hint = hints[parameter.name]
    return isinstance(hint, type) and any((each.__module__, each.__qualname__) == CONTEXT for each in hint.__mro__)


def _hints(function: Callable[..., Any], kind: str) -> dict[str, Any]:
    try:
        return _resolved(function)
    except NameError as missing:
        message = f"its annotations name '{missing.name}', which is not there at run time"
        raise bad(kind, f"{message}; import it outside of `if TYPE_CHECKING`, or define it before the job") from missing


def _resolved(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as missing:
        if missing.name != CONTEXT[1]:
            raise
    # Imported for the type checker alone, which is good style: nothing in the function itself needs it.
    from detent.runtime.context import Context

    return get_type_hints(function, localns={CONTEXT[1]: Context}, include_extras=True)
