"""A bad value for any argument of any verb: an error of ours with a code from the page, and nothing written."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from detent.client import Client
from detent.errors import DetentError, StoreError
from tests.client.arguments import GOOD, KINDS, arguments_of, bad_values
from tests.client.places import Place
from tests.client.world import CODES, AsyncCaller, BlockingCaller, Caller, World

CASES = [
    pytest.param(verb, name, id=f"{verb}-{name}")
    for verb in GOOD
    for name in arguments_of(verb)
    if KINDS[name] != "anything"
]


@pytest.fixture(scope="module")
def world(own_place: Place) -> Iterator[World]:
    """Shared: none of these calls leaves a trace, which each of them checks."""
    world = World(own_place)
    world.prepare()
    yield world
    world.close()


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.mark.parametrize(("verb", "name"), CASES)
def test_bad_value_is_refused_by_the_blocking_client(world: World, verb: str, name: str) -> None:
    assert complaints(world, BlockingCaller(world), verb, name) == []


@pytest.mark.parametrize(("verb", "name"), CASES)
def test_bad_value_is_refused_by_the_async_client(world: World, runner: asyncio.Runner, verb: str, name: str) -> None:
    assert complaints(world, AsyncCaller(world, runner), verb, name) == []


def complaints(world: World, caller: Caller, verb: str, name: str) -> list[str]:
    """What went wrong, value by value."""
    found, before = [], world.snapshot()
    for value in bad_values(verb, name):
        version = world.version()
        wrong = outcome(caller, verb, GOOD[verb] | {name: value})
        found += [f"{shown(value)}: {wrong}"] if wrong else []
        found += [f"{shown(value)}: something was written"] if world.version() != version else []
    assert found or world.snapshot() == before
    return found


def outcome(caller: Caller, verb: str, arguments: dict[str, Any]) -> str | None:
    try:
        answer = caller.call(verb, arguments)
    except StoreError as error:
        return f"got as far as the store: {error}"
    except DetentError as error:
        is_known = str(error) and error.code in CODES
        return None if is_known else f"the code {error.code} is not on the page"
    except Exception as error:
        return f"raised {type(error).__name__}: {str(error)[:100]}"
    return f"accepted: {shown(answer)}"


def shown(value: object) -> str:
    """Some of these values cannot even be printed."""
    try:
        return repr(value)[:60]
    except (ValueError, RecursionError):
        return type(value).__name__


def test_every_public_verb_and_argument_is_tried() -> None:
    verbs = {
        name
        for name, method in inspect.getmembers(Client)
        if not name.startswith("_") and (inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method))
    } - {"open", "close"}

    assert verbs == GOOD.keys()
    assert {name for verb in verbs for name in arguments_of(verb)} <= KINDS.keys()


def test_good_calls_that_the_bad_values_are_put_into_are_good(new_place: Callable[[], Place]) -> None:
    """Else a bad value might be refused for another reason than itself."""
    for verb, arguments in GOOD.items():
        world = World(new_place())
        world.prepare()
        if verb == "expire":
            world.clock.pass_s(61)
        wrong = complaint(BlockingCaller(world), verb, arguments)
        world.close()
        assert wrong == {"stall": "illegal_move", "time_out": "not_due"}.get(verb)


def complaint(caller: Caller, verb: str, arguments: dict[str, Any]) -> str | None:
    try:
        caller.call(verb, arguments)
    except DetentError as refused:
        return refused.code
    return None


def test_unknown_argument_of_a_single_verb_is_python_s_own_error(world: World) -> None:
    with pytest.raises(TypeError):
        world.blocking.enqueue("scan", prioritty=5)  # type: ignore[call-arg]
