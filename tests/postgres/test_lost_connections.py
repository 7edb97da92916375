"""Connections that are lost at every moment of a verb: it has its effect once, or says that it may not have had it."""

from collections.abc import Iterator
from typing import Any, Final, Literal

import pytest

import detent
from tests.postgres.clients import opened
from tests.postgres.cutting import Cutter, pass_all
from tests.postgres.moments import Chosen, Once
from tests.postgres.sweeping import (
    MOMENTS_MAX,
    VERBS,
    Committing,
    InTurn,
    Two,
    connection_or_statement_begins,
    is_as_answered,
    statement_begins,
    statement_ends,
)

MOMENTS: Final[dict[str, tuple[Chosen, Literal["seen", "answered"]]]] = {
    "before a statement": (statement_begins, "seen"),
    "before its end": (statement_ends, "seen"),
    "before its answer": (statement_ends, "answered"),
}
EFFECTS: Final = {"store_unavailable": {0}, "outcome_unknown": {0, 1}}  # what an error leaves open


@pytest.fixture
def cutter(pg_emptied: str) -> Iterator[Cutter]:
    with Cutter(pg_emptied) as cutter:
        yield cutter


@pytest.fixture
def two(cutter: Cutter, pg_emptied: str) -> Iterator[Two]:
    with opened(cutter.url) as lossy, opened(pg_emptied) as beside:
        yield Two(lossy, beside)


@pytest.fixture
def impatient(cutter: Cutter, pg_emptied: str) -> Iterator[Two]:
    """A client that does not try again."""
    with opened(cutter.url, retry_s=0) as lossy, opened(pg_emptied) as beside:
        yield Two(lossy, beside)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("verb", VERBS)
def test_verb_whose_connection_is_lost_has_its_effect_once(cutter: Cutter, two: Two, verb: str, moment: str) -> None:
    chosen, when = MOMENTS[moment]
    for nth in range(1, MOMENTS_MAX):
        asked = VERBS[verb](two, f"name{nth}")
        cutter.decide = lost = Once("cut", chosen, nth=nth, when=when)

        answer = asked.call()

        cutter.decide = pass_all
        assert (nth, asked.effects(), is_as_answered(two, answer)) == (nth, 1, True)
        if not lost.happened.is_set():
            break
    assert 1 < nth < MOMENTS_MAX - 1
    assert two.beside.verify().is_clean


@pytest.mark.parametrize("moment", ["before a statement", "before its answer"])
@pytest.mark.parametrize("verb", VERBS)
def test_verb_that_is_not_tried_again_says_what_became_of_it(
    cutter: Cutter, impatient: Two, verb: str, moment: str
) -> None:
    chosen, when = MOMENTS[moment]
    told = set()
    for nth in range(1, MOMENTS_MAX):
        asked = VERBS[verb](impatient, f"name{nth}")
        cutter.decide = lost = Once("cut", chosen, nth=nth, when=when)

        answer = answer_or_code(asked.call)

        cutter.decide = pass_all
        told.add(answer if isinstance(answer, str) else "")
        assert asked.effects() in (EFFECTS[answer] if isinstance(answer, str) else {1})
        if not lost.happened.is_set():
            break
    assert 1 < nth < MOMENTS_MAX - 1
    assert "outcome_unknown" in told
    assert impatient.beside.verify().is_clean


@pytest.mark.parametrize("verb", ["enqueue", "claim", "complete", "complete_named"])
def test_connection_may_be_lost_again_while_it_is_made_up_for(cutter: Cutter, two: Two, verb: str) -> None:
    for nth in range(1, MOMENTS_MAX):
        asked = VERBS[verb](two, f"name{nth}")
        again = Once("cut", connection_or_statement_begins, nth=nth)
        cutter.decide = InTurn(Once("cut", Committing(), when="answered"), again)

        answer = asked.call()

        cutter.decide = pass_all
        assert (nth, asked.effects(), is_as_answered(two, answer)) == (nth, 1, True)
        if not again.happened.is_set():
            break
    assert 1 < nth < MOMENTS_MAX - 1
    assert two.beside.verify().is_clean


def answer_or_code(call: Any) -> Any:
    try:
        return call()
    except detent.StoreError as error:
        return error.code
