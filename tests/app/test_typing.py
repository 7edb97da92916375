"""The types of job functions. mypy reads `typed_calls`; here it is run, and what mypy refuses is refused there, too."""

import asyncio
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import get_overloads, get_type_hints

import pytest

from detent import InvalidArgument
from detent.app.options import EnqueueOptions
from detent.app.typed import Enqueue
from detent.runtime.context import Context
from detent.testing import Trial
from tests.app import typed_calls


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    typed_calls.app.close()


def test_every_option_of_enqueue_is_known_to_type_checkers() -> None:
    hints = get_type_hints(EnqueueOptions)
    name_of_call = SimpleNamespace(__module__=Enqueue.__module__, __qualname__="Enqueue.__call__")

    overloads = get_overloads(name_of_call)  # type: ignore[arg-type]  # its name is all that is looked at

    keywords = [{name: hint for name, hint in get_type_hints(each).items() if name in hints} for each in overloads[1:]]

    assert keywords == [{name: hint} for name, hint in hints.items()]


@pytest.mark.parametrize(
    "accepted",
    [typed_calls.options_stand_beside_the_arguments, typed_calls.batches_are_calls],
)
def test_what_a_type_checker_accepts_is_accepted(accepted: Callable[[], None]) -> None:
    accepted()


def test_results_are_what_the_types_say() -> None:
    with Trial(typed_calls.app, "sqlite:///:memory:") as jobs:
        handle = typed_calls.double.enqueue(2)
        jobs.drain()

        assert handle.result() == 4


def test_job_function_stays_an_ordinary_function() -> None:
    ctx = Context.__new__(Context)

    assert typed_calls.double(2) == 4
    assert typed_calls.shout(ctx, word="a") == "A"
    assert asyncio.run(typed_calls.extract(ctx, "a.pdf", pages=3)) == {"a.pdf": 3}


@pytest.mark.parametrize(
    "refused",
    [
        typed_calls.wrong_type,
        typed_calls.wrong_name,
        typed_calls.missing_argument,
        typed_calls.wrong_type_beside_options,
        typed_calls.wrong_option,
        typed_calls.wrong_priority_name,
        typed_calls.wrong_call_in_a_batch,
        typed_calls.wrong_setting,
    ],
)
def test_what_a_type_checker_refuses_is_refused(refused: Callable[[], None]) -> None:
    with pytest.raises(InvalidArgument):
        refused()
