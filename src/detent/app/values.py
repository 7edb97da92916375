"""Values of declared types as JSON, and back: what msgspec knows, and models that know how to dump themselves.

A model is anything with `model_validate` and `model_dump`, as pydantic's have; pydantic itself is never imported.
"""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import Struct, inspect

from detent.client.codec import check_value

SHOWN_ERRORS_MAX: Final = 3
# Kept as they are while types are checked: as text each could pass for a string.
_SCALARS: Final = (bytes, bytearray, datetime, date, time, timedelta, UUID, Decimal)
# What writing a value can raise: of msgspec, and of a model's own code.
UNWRITABLE: Final = (NotImplementedError, TypeError, ValueError, RecursionError, OverflowError)


class Value:
    """Values of one type. `hint` is what was written in the signature; `object` means anything, as `Any` does."""

    def __init__(self, hint: Any) -> None:
        self.hint = Any if hint is object else hint
        nodes = list(_nodes(inspect.type_info(self.hint)))
        self.strangers = [
            node.cls for node in nodes if isinstance(node, inspect.CustomType) and not _is_model(node.cls)
        ]
        self._is_open = any(isinstance(node, inspect.AnyType) for node in nodes)

    def checked(self, value: Any, what: str) -> Any:
        """JSON of a value that has to be of the type; no string passes for a moment, and no bytes for a string."""
        raw = msgspec.to_builtins(value, builtin_types=_SCALARS, enc_hook=_dumped)
        typed = msgspec.convert(raw, self.hint, builtin_types=_SCALARS, dec_hook=validated)
        self._check_open(value, what)
        return _json(typed)

    def dumped(self, value: Any, what: str) -> Any:
        """JSON of a value as it is, whether of the type or not."""
        self._check_open(value, what)
        return _json(value)

    def from_json(self, value: Any) -> Any:
        """The typed value, or msgspec's error, which says where."""
        return msgspec.convert(value, self.hint, str_keys=True, dec_hook=validated)

    def _check_open(self, value: Any, what: str) -> None:
        """Only a type says what bytes or a set are to become again: where anything goes there can be none of them."""
        if self._is_open:
            check_value(value, what)


def validated(kind: type, value: Any) -> Any:
    """For msgspec, which adds where it was; it does so for ValueErrors and TypeErrors, and pydantic's is one."""
    if not _is_model(kind):
        raise TypeError(f"nothing is known of {kind.__name__}")
    try:
        return kind.model_validate(value)  # type: ignore[attr-defined]
    except ValueError as wrong:
        raise ValueError(_said(wrong)) from wrong


def _json(value: Any) -> Any:
    return msgspec.to_builtins(value, str_keys=True, enc_hook=_dumped)


def _dumped(value: Any) -> Any:
    if _is_model(type(value)):
        return value.model_dump(mode="json")
    raise NotImplementedError(f"a {type(value).__name__} is no value that JSON could hold")


def _is_model(kind: type) -> bool:
    return callable(getattr(kind, "model_validate", None)) and callable(getattr(kind, "model_dump", None))


def _said(wrong: ValueError) -> str:
    """In one line: pydantic's own text is a page."""
    errors = getattr(wrong, "errors", None)
    if not callable(errors):
        return str(wrong)
    found = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in errors()]
    more = len(found) - SHOWN_ERRORS_MAX
    return "; ".join([*found[:SHOWN_ERRORS_MAX], *([f"and {more} more"] if more > 0 else [])])


def _nodes(root: inspect.Type) -> Iterator[Any]:
    """Every part of a type, each once: types may contain themselves."""
    waiting: list[Any] = [root]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting += node
        elif isinstance(node, inspect.Type | inspect.Field) and id(node) not in seen:
            seen.add(id(node))
            yield node
            assert isinstance(node, Struct)
            waiting += [getattr(node, name) for name in node.__struct_fields__]
