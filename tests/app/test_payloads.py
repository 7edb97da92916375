"""Payloads follow from the signature: what is given comes back as it was, and what is wrong is refused by name."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NotRequired, TypedDict
from uuid import UUID

import msgspec
import pytest

from detent import App, InvalidArgument, PermanentError, ValidationError
from detent.client import Codec
from detent.runtime.handler import Handler


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Box(msgspec.Struct):
    width: int
    label: str = ""


class Options(TypedDict):
    deep: bool
    colour: NotRequired[Colour]


@dataclass
class Page:
    number: int
    boxes: list[Box] = field(default_factory=list)
    next: "Page | None" = None


class Model:
    """What pydantic's models have, and nothing else of theirs: `model_validate` and `model_dump`."""

    def __init__(self, name: str, at: datetime) -> None:
        self.name, self.at = name, at

    @classmethod
    def model_validate(cls, value: Any) -> "Model":
        if isinstance(value, cls):
            return value
        if not isinstance(value.get("name"), str):
            raise Wrong([{"loc": ("name",), "msg": "Input should be a valid string"}])
        return cls(value["name"], datetime.fromisoformat(value["at"]))

    def model_dump(self, *, mode: str = "python") -> dict[str, Any]:
        return {"name": self.name, "at": self.at.isoformat() if mode == "json" else self.at}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and (other.name, other.at) == (self.name, self.at)


class Wrong(ValueError):
    def __init__(self, found: list[dict[str, Any]]) -> None:
        super().__init__("1 validation error\nname\n  a page of text")
        self._found = found

    def errors(self) -> list[dict[str, Any]]:
        return self._found


NOON = datetime(2026, 11, 16, 12, 0, 0, 123456, tzinfo=UTC)
ID = UUID("5a1e0d76-2a87-4a0e-9f5c-1d2f3c4b5a69")
VALUES: list[tuple[Any, Any]] = [
    (int, 2**62),
    (float, 1.5),
    (str, "ü\n"),
    (bool, True),
    (None, None),
    (str | None, None),
    (int | str, "x"),
    (bytes, b"\x00\xff"),
    (datetime, NOON),
    (date, NOON.date()),
    (time, time(1, 2, 3)),
    (timedelta, timedelta(days=1, seconds=3)),
    (UUID, ID),
    (Decimal, Decimal("1.50")),
    (Colour, Colour.RED),
    (Level, Level.LOW),
    (Literal["a", "b"], "a"),
    (Annotated[int, msgspec.Meta(ge=1)], 1),
    (list[datetime], [NOON]),
    (set[int], {1, 2}),
    (frozenset[str], frozenset({"a"})),
    (tuple[int, str], (1, "a")),
    (tuple[UUID, ...], (ID, ID)),
    (dict[str, Any], {"a": [1, None, {"b": 2.5}]}),
    (dict[int, UUID], {1: ID}),
    (dict[UUID, Colour], {ID: Colour.RED}),
    (Box, Box(3, "b")),
    (Options, {"deep": True, "colour": Colour.RED}),
    (Page, Page(1, [Box(1)], Page(2))),
    (dict[str, list[Page]], {"x": [Page(1)]}),
    (Model, Model("ann", NOON)),
    (list[Model | None], [Model("ann", NOON), None]),
    (Any, {"a": [1, 2]}),
    (object, "x"),
]


def of_type(hint: Any) -> Callable[..., Any]:
    """A function with one parameter of that type, which it returns."""

    def keep(value: Any) -> Any:
        return value

    keep.__annotations__ = {"value": hint, "return": hint}
    return keep


def declared(function: Callable[..., Any]) -> tuple[Any, Handler]:
    app = App()
    job: Any = app.job(function)
    return job, app.handlers()[0]


def kept(value: Any) -> Any:
    """As a store would give it back."""
    codec = Codec()
    return codec.decode(codec.encode(value))


@pytest.mark.parametrize(("hint", "value"), VALUES, ids=lambda each: str(each)[:40])
def test_argument_reaches_the_function_as_it_was_given(hint: Any, value: Any) -> None:
    job, handler = declared(of_type(hint))

    read = handler.arguments(kept(job.call(value).item["payload"]))

    assert read == {"value": value}
    assert type(read["value"]) is type(value)


@pytest.mark.parametrize(("hint", "value"), VALUES, ids=lambda each: str(each)[:40])
def test_result_can_be_kept_as_json(hint: Any, value: Any) -> None:
    job, handler = declared(of_type(hint))

    assert job.registration.result.from_json(kept(handler.result(value))) == value


WRONG: list[Any] = [
    (int, "1", "value: Expected `int`, got `str`"),
    (int, True, "value: Expected `int`, got `bool`"),
    (str, b"x", "value: Expected `str`, got `bytes`"),
    (str, NOON, "value: Expected `str`, got `datetime`"),
    (datetime, "2026-11-16", "value: Expected `datetime`, got `str`"),
    (list[int], [1, "2"], "value[1]: Expected `int`, got `str`"),
    (Page, Page(1, [Box("wide")]), "value.boxes[0].width: Expected `int`, got `str`"),  # type: ignore[arg-type]
    (Options, {"deep": 1}, "value.deep: Expected `bool`, got `int`"),
    (Literal["a", "b"], "c", "value: Invalid enum value 'c'"),
    (Annotated[int, msgspec.Meta(ge=1)], 0, "value: Expected `int` >= 1"),
    (Model, {"name": 5}, "value: name: Input should be a valid string"),
    (list[Model], [{"name": 5}], "value[0]: name: Input should be a valid string"),
    (Any, b"x", "value holds a bytes"),
    (dict[str, Any], {"a": {1, 2}}, "value holds a set"),
    (Any, {1: 2}, "value holds keys that are no strings"),
    (Any, float("nan"), "value holds nan"),
    pytest.param(Any, object(), "value: a object is no value", id="an object"),
    (dict[str, int], {1: 1}, "value"),
]


@pytest.mark.parametrize(("hint", "value", "said"), WRONG, ids=lambda each: str(each)[:40])
def test_wrong_argument_is_refused_at_enqueue_with_its_name(hint: Any, value: Any, said: str) -> None:
    job, _ = declared(of_type(hint))

    with pytest.raises(InvalidArgument) as refused:
        job.enqueue(value)

    assert refused.value.code == "bad_payload"
    assert "job 'keep'" in str(refused.value)
    assert said in str(refused.value)


def extract(path: str, pages: int = 1) -> None:
    pass


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        ((), {}, "missing a required argument: 'path'"),
        (("a",), {"path": "b"}, "multiple values for argument 'path'"),
        (("a", 1, 2), {}, "too many positional arguments"),
        (("a",), {"page": 1}, "unexpected keyword argument 'page'"),
    ],
)
@pytest.mark.requirement("ENG-04")
def test_call_that_the_function_would_not_take_is_refused(
    args: tuple[Any, ...], kwargs: dict[str, Any], said: str
) -> None:
    job, _ = declared(extract)

    with pytest.raises(InvalidArgument) as refused:
        job.enqueue(*args, **kwargs)

    assert said in str(refused.value)
    assert "It takes (path: str, pages: int = 1)" in str(refused.value)


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"path": 5}, "path: Expected `str`, got `int`"),
        ({}, "missing required field `path`"),
        (None, "missing required field `path`"),
        ({"path": "a", "page": 1}, "unknown field `page`"),
        ("a.pdf", "Expected `object`, got `str`"),
    ],
)
@pytest.mark.requirement("STD-20")
def test_wrong_payload_of_anybody_is_refused_by_the_handler_for_good(payload: Any, said: str) -> None:
    _, handler = declared(extract)

    with pytest.raises(ValidationError) as refused:
        handler.arguments(payload)

    assert said in str(refused.value)
    assert refused.value.stage == "input"


def test_default_belongs_to_the_function_and_not_to_the_payload() -> None:
    job, handler = declared(extract)

    payload = job.call("a.pdf").item["payload"]

    assert payload == {"path": "a.pdf"}
    assert handler.arguments(payload) == {"path": "a.pdf"}


def test_default_may_be_what_no_payload_could_hold() -> None:
    marker = object()

    def scan(path: str, where: Any = marker) -> Any:
        return where

    job, handler = declared(scan)

    assert scan(**handler.arguments(job.call("a").item["payload"])) is marker


@pytest.mark.parametrize("payload", [None, {}])
def test_function_without_parameters_takes_an_empty_payload(payload: Any) -> None:
    def tick() -> None: ...

    job, handler = declared(tick)

    assert job.call().item["payload"] == {}
    assert handler.arguments(payload) == {}


@pytest.mark.parametrize("returned", [pytest.param(object(), id="an object"), b"x", {1, 2}, {"a": float("inf")}])
def test_result_that_cannot_be_kept_is_a_permanent_error(returned: Any) -> None:
    _, handler = declared(of_type(Any))

    with pytest.raises(PermanentError) as refused:
        handler.result(returned)

    assert "job 'keep' returned what cannot be kept" in str(refused.value)
    assert refused.value.stage == "output"


def test_result_of_another_type_than_declared_is_kept_and_told_to_the_reader() -> None:
    def count() -> int:
        return "three"  # type: ignore[return-value]

    job, handler = declared(count)

    assert handler.result("three") == "three"
    with pytest.raises(InvalidArgument) as told:
        job.registration.result.from_json("three")
    assert told.value.code == "value_unreadable"
    assert "Expected `int`, got `str`" in str(told.value)
