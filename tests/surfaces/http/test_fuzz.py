"""A slice of `make fuzz`: the same cases every day."""

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Final

import pytest
from schemathesis import GenerationMode

from tests.chance import examples
from tests.figures import Show
from tests.surfaces.http.fuzzing import Fuzz
from tests.surfaces.http.hostile import questions, scrambled
from tests.surfaces.http.raw import Line, status
from tests.surfaces.http.serving import Served, served

CHANCE: Final = 7


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("fuzzed"), reconcile_s=None) as service:
        yield service


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Of a request that has lost some of its bytes, the rest is waited for."""
    with served(tmp_path_factory.mktemp("hasty"), reconcile_s=None, receipt_s=0.5) as service:
        yield service


@pytest.fixture(scope="module")
def fuzz(fuzzed: Served) -> Fuzz:
    """One for all, since it takes its time to read the description."""
    return Fuzz(fuzzed, CHANCE)


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_whatever_the_description_allows_and_forbids_is_answered_as_it_says(
    fuzzed: Served, fuzz: Fuzz, mode: GenerationMode, show: Show
) -> None:
    tally = fuzz.run(examples(3), mode=mode, token=fuzzed.token)

    show(f"schemathesis: {tally.total()} {mode.value} cases, no server error, no answer that violates the description")
    assert tally.total() > 150


def test_without_a_token_nothing_of_it_is_answered(fuzz: Fuzz) -> None:
    tally = fuzz.run(1, mode=GenerationMode.POSITIVE, token=None)

    assert {status for _, status in tally} == {200, 401}
    assert tally["positive", 200] == 3  # healthz, readyz and the description itself


def test_hostile_values_make_no_server_error(fuzzed: Served, show: Show) -> None:
    chance = random.Random(CHANCE)
    tally: Counter[int] = Counter()
    for question in questions(fuzzed, chance, examples(1_500)):
        answer = fuzzed.ask(question.method, question.path, headers=question.headers, body=question.body)
        tally[answer.status] += 1

        assert answer.status < 500, question
        assert answer.status < 400 or answer.code is not None, question

    show(f"hostile values: {tally.total()} requests, {tally[200] + tally[201] + tally[204]} accepted, 0 server errors")


def test_scrambled_bytes_make_no_server_error(hasty: Served, show: Show) -> None:
    chance = random.Random(CHANCE)
    tally: Counter[int] = Counter()
    for _ in range(examples(300)):
        data = scrambled(hasty, chance)
        with closing(Line(hasty)) as line:
            line.say(data)
            line.end()
            tally[status(line.heard())] += 1

    assert not [code for code in tally if code >= 500]
    assert hasty.ask("GET", "/healthz").status == 200
    show(f"scrambled bytes: {tally.total()} requests, 0 server errors")
