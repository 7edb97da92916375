"""Payloads, results and checkpoints: what JSON can hold comes back as it was, and nothing else gets in."""

import enum
import math
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.client import Codec
from detent.client.codec import BYTES_MAX, DEPTH_MAX
from detent.errors import InvalidArgument
from tests.chance import examples
from tests.client.arguments import DEEP, ENDLESS, HUGE, INF, NAN, UNLIKELY, Odd, nested
from tests.client.world import CODES, World


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Page:
    number: int
    text: str


class Sheet(msgspec.Struct):
    number: int
    pages: list[Page]


def circular() -> Any:
    inner: dict[str, Any] = {}
    inner["itself"] = [inner]
    return inner


@dataclass
class Loop:
    inner: Any = None


def looped() -> Loop:
    loop = Loop()
    loop.inner = loop
    return loop


BAD = {
    "nan": (NAN, "value_not_json"),
    "infinity": (INF, "value_not_json"),
    "minus infinity": (-INF, "value_not_json"),
    "nan inside": ({"a": [1, {"b": NAN}]}, "value_not_json"),
    "infinity beside None": ([None, -INF], "value_not_json"),
    "nan in a dataclass": (Page(NAN, ""), "value_not_json"),  # type: ignore[arg-type]
    "lone surrogate": ("\ud800", "value_not_json"),
    "lone surrogate inside": ([{"a": "x\udfff"}], "value_not_json"),
    "lone surrogate as a key": ({"\ud800": 1}, "value_not_json"),
    "an object": (Odd(), "value_not_json"),
    "an object inside": ({"a": [Odd()]}, "value_not_json"),
    "a class": (Odd, "value_not_json"),
    "a function": (len, "value_not_json"),
    "a generator": ((n for n in range(3)), "value_not_json"),
    "an exception": (ValueError("x"), "value_not_json"),
    "a key that is None": ({None: 1}, "value_not_json"),
    "a key that is a tuple": ({(1, 2): 1}, "value_not_json"),
    "raw text that is no JSON": (msgspec.Raw(b"{bad"), "value_not_json"),
    "circular": (circular(), "value_too_deep"),
    "circular dataclass": (looped(), "value_too_deep"),
    "100,000 deep": (DEEP, "value_too_deep"),
    "one too deep": (nested(DEPTH_MAX + 1), "value_too_deep"),
    "10 MB": ("x" * 10_000_000, "value_too_large"),
    "one byte too long": ("x" * (BYTES_MAX - 1), "value_too_large"),
    "a number of 5,000 digits": (ENDLESS, "value_not_json"),
}
# What JSON has no word for: kept as something else it would come back as something else.
LOSSY = {
    "bytes": b"x",
    "bytes inside": {"a": [b"\x00\xff"]},
    "a set": {1, 2},
    "a frozenset": frozenset({1}),
    "keys that are numbers": {1: "a"},
    "a key that is no number": {NAN: 1},
    "keys that clash once they are text": {1: "a", "1": "b"},
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("argument", ["payload", "result", "checkpoint"])
def test_value_that_json_cannot_hold_is_refused(fresh: World, argument: str, what: str) -> None:
    value, code = BAD[what]
    fresh.prepare("running")
    before = fresh.version()

    with pytest.raises(InvalidArgument) as refused:
        say(fresh, argument, value)

    assert refused.value.code == code
    assert argument in str(refused.value)
    assert fresh.version() == before


@pytest.mark.parametrize("what", LOSSY)
def test_value_that_would_come_back_as_something_else_is_refused(fresh: World, what: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        fresh.blocking.enqueue("scan", LOSSY[what])

    assert refused.value.code == "value_not_json"


def say(world: World, argument: str, value: Any) -> Any:
    who: dict[str, Any] = {"worker": "w", "attempt": 1}
    match argument:
        case "payload":
            return world.blocking.enqueue("scan", value).payload
        case "result":
            return world.blocking.complete("running", result=value, **who).result
        case _:
            return world.blocking.renew("running", checkpoint=value, **who).checkpoint


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (None, None),
        (datetime(2025, 2, 1, 16, tzinfo=UTC), "2025-02-01T16:00:00Z"),
        (Page(3, "x"), {"number": 3, "text": "x"}),
        (Sheet(1, [Page(2, "y")]), {"number": 1, "pages": [{"number": 2, "text": "y"}]}),
        ((1, "a"), [1, "a"]),
        (Colour.RED, "red"),
        (uuid.UUID(int=5), str(uuid.UUID(int=5))),
        (Decimal("1.50"), "1.50"),
        (2**63 - 1, 2**63 - 1),
        (-(2**63), -(2**63)),
        (2**64 - 1, 2**64 - 1),
        (HUGE, HUGE),
        ("a\0b\u202e\n", "a\0b\u202e\n"),
        ({"null": "null", "a": None}, {"null": "null", "a": None}),
        ("[" * 500, "[" * 500),
        (nested(DEPTH_MAX - 1), nested(DEPTH_MAX - 1)),
        ([[] for _ in range(1_000)], [[] for _ in range(1_000)]),
        (UNLIKELY, UNLIKELY),
        ({UNLIKELY: [UNLIKELY]}, {UNLIKELY: [UNLIKELY]}),
        (-0.0, -0.0),
        (1e308, 1e308),
        (5e-324, 5e-324),
        ("", ""),
        ({}, {}),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("argument", ["payload", "result", "checkpoint"])
def test_value_comes_back_as_json_has_it(fresh: World, argument: str, value: Any, kept: Any) -> None:
    fresh.prepare("running")

    assert say(fresh, argument, value) == kept


def test_value_of_exactly_the_bound_is_kept(fresh: World) -> None:
    value = "x" * (BYTES_MAX - 2)

    assert fresh.blocking.enqueue("scan", value).payload == value


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=examples(400))
@given(value=json_values)
def test_every_json_value_round_trips(value: Any) -> None:
    plain = Codec()
    odd = Codec(compress_over=10, encrypt=lambda data: data[::-1], decrypt=lambda data: data[::-1])

    assert plain.decode(plain.encode(value)) == value
    assert odd.decode(odd.encode(value)) == value


@settings(max_examples=examples(300))
@given(value=st.floats())
def test_float_is_kept_exactly_or_refused(value: float) -> None:
    codec = Codec()

    if math.isfinite(value):
        assert codec.decode(codec.encode([value])) == [value]
    else:
        with pytest.raises(InvalidArgument):
            codec.encode([value])


def test_none_is_null_and_a_result_of_none_is_a_result(fresh: World) -> None:
    fresh.prepare("running")

    job = fresh.blocking.complete("running", worker="w", attempt=1, result=None)

    assert job.record.result == b"null"
    assert (job.result, job.state) == (None, "succeeded")


def test_codes_of_values_are_on_the_page() -> None:
    assert {"value_not_json", "value_too_large", "value_too_deep", "value_unreadable"} <= CODES
