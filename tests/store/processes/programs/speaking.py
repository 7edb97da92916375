"""How a program speaks with the test that started it: its arguments, and lines of JSON both ways."""

import sys
from typing import Any, TypeVar

import msgspec

Given = TypeVar("Given")


def given(kind: type[Given]) -> Given:
    return msgspec.json.decode(sys.argv[1], type=kind)


def tell(**facts: object) -> None:
    """A line to whoever started this. When it returns, the pipe has it, and a kill does not take it back."""
    sys.stdout.buffer.write(msgspec.json.encode(facts) + b"\n")
    sys.stdout.buffer.flush()


def hear() -> dict[str, Any]:
    """Wait for a line. Without anybody there to say it, this program has no reason to go on."""
    line = sys.stdin.buffer.readline()
    if not line:
        raise SystemExit("whoever started this is gone")
    heard: dict[str, Any] = msgspec.json.decode(line)
    return heard
