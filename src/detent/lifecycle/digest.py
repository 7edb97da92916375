"""The digest of a declaration: equal content gives equal digests, however and wherever it was written down."""

import hashlib
from functools import cache
from typing import Any

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields


def digest_of(struct: Struct, *, leave_out: str) -> str:
    content = _plain(struct)
    content.pop(leave_out, None)
    return hashlib.blake2b(msgspec.json.encode(content, order="sorted"), digest_size=16).hexdigest()


def _plain(value: Any) -> Any:
    """60 and 60.0 are one number. A default says the same left out, so that a field added later changes no digest."""
    if isinstance(value, Struct):
        pairs = ((field, getattr(value, field.name)) for field in _fields(type(value)))
        return {field.encode_name: _plain(own) for field, own in pairs if own != _default(field)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


@cache
def _fields(kind: type[Struct]) -> tuple[FieldInfo, ...]:
    """msgspec reads the annotations of a class anew each time it is asked, which takes longer than all the rest."""
    return fields(kind)


def _default(field: FieldInfo) -> Any:
    return field.default if field.default_factory is NODEFAULT else field.default_factory()
