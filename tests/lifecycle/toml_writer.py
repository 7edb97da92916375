"""Writes a declaration down in TOML, sound or not, so that every case is tried in both notations."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec


def as_toml(declaration: Any) -> str:
    return "".join(f"{key} = {_value(value)}\n" for key, value in msgspec.to_builtins(declaration).items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value) if isinstance(value, str | bool) else str(value)
