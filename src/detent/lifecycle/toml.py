"""A lifecycle written in TOML: the same fields, the same check, no unknown key. Reads text, not files."""

import msgspec

from detent.errors import LifecycleError
from detent.lifecycle.lifecycle import Lifecycle


def from_toml(text: str) -> Lifecycle:
    try:
        return msgspec.toml.decode(text, type=Lifecycle)
    except msgspec.ValidationError as wrong:
        raise LifecycleError(_name(text), [("bad_declaration", _explain(str(wrong)))]) from wrong
    except msgspec.DecodeError as wrong:
        raise LifecycleError("?", [("bad_toml", f"this is not TOML: {wrong}")]) from wrong


def _name(text: str) -> str:
    data = msgspec.toml.decode(text)
    return str(data.get("name", "?")) if isinstance(data, dict) else "?"


def _explain(message: str) -> str:
    """msgspec says where and what; add what a reader can do about it."""
    if "unknown field" in message:
        return f"{message}; remove the key or mend its spelling"
    if "missing required field" in message:
        return f"{message}; add it"
    return message
