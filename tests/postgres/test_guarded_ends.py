"""How a job begins and how it ends: once, in a declared way, and from its end there is no way back."""

from typing import Any, Final

import psycopg
import pytest

from detent.lifecycle import Lifecycle
from detent.lifecycles import BUILT_IN, STANDARD
from tests.postgres.by_hand import ENDED, RECORDS, Hand, fitting, refusal
from tests.store.declared import way_to

BEGIN: Final = "a job begins once, at its first revision"
MOVE: Final = "a move is declared, and has its event"
END: Final = "a job ends in a declared way, with its last event, and once"
LEAVE: Final = "only its end takes a job from the living"
every_lifecycle = pytest.mark.parametrize("lifecycle", BUILT_IN.values(), ids=lambda each: each.name)


def ended(hand: Hand, job: int, state: str, outcome: str, **changed: Any) -> None:
    """A row of the ended, by itself."""
    columns = hand.columns(STANDARD, job, "succeeded") | fitting("ended", outcome) | {"state": state} | changed
    hand.insert(ENDED, columns)


@every_lifecycle
def test_record_without_its_first_event_is_refused(hand: Hand, lifecycle: Lifecycle) -> None:
    hand.spec(lifecycle, 1, "job-1")

    with pytest.raises(psycopg.DatabaseError, match=MOVE):
        hand.record(lifecycle, 1, lifecycle.table.start.leg.state.name)


@every_lifecycle
def test_record_that_begins_in_another_state_or_at_another_rev_is_refused(hand: Hand, lifecycle: Lifecycle) -> None:
    first = lifecycle.table.start.leg.state.name
    living = [state.name for state in lifecycle.states if state.phase != "ended"]
    let_in = []
    for job, state in enumerate(living, 1):
        hand.event(job, 1, "enqueue", None, state)
        hand.event(job, 2, "enqueue", None, state)
        revs = (1, 2) if state != first else (2,)
        let_in += [(state, rev) for rev in revs if _begins(hand, lifecycle, job, state, rev=rev)]

    assert let_in == []
    assert _begins(hand, lifecycle, 1 + living.index(first), first)


@pytest.mark.requirement("ALL-10")
@every_lifecycle
def test_nothing_brings_an_ended_job_back(hand: Hand, lifecycle: Lifecycle) -> None:
    """Not at any of the revisions whose events are in the log, though each of them was declared."""
    brought_back = []
    for job, end in enumerate((state for state in lifecycle.states if state.phase == "ended"), 1):
        hand.bring(lifecycle, end.name, job)
        places = [lifecycle.table.start.leg.state.name, *(triple[2] for triple in way_to(lifecycle, end.name)[:-1])]
        brought_back += [
            (end.name, rev) for rev, place in enumerate(places, 1) if _begins(hand, lifecycle, job, place, rev=rev)
        ]

    assert brought_back == []


@pytest.mark.requirement("ALL-10")
def test_ended_job_stays_as_it_is(hand: Hand) -> None:
    hand.bring(STANDARD, "succeeded")
    for change in ("state = 'queued'", "rev = rev + 1", "outcome = 'failure'", "result = 'another'"):
        with pytest.raises(psycopg.DatabaseError, match="an ended job stays as it is"):
            hand.ask(f"update detent_ended set {change}")


@pytest.mark.parametrize("state", ["queued", "assigned", "running"])
def test_job_that_lives_does_not_come_among_the_ended(hand: Hand, state: str) -> None:
    hand.bring(STANDARD, state)
    rev = len(way_to(STANDARD, state)) + 2
    hand.event(1, rev, "cancel", state, "cancelled")

    with pytest.raises(psycopg.DatabaseError, match=END):
        ended(hand, 1, "cancelled", "cancelled", rev=rev)


@pytest.mark.requirement("ALL-02")
@pytest.mark.parametrize(
    ("events", "state", "outcome"),
    [
        ([], "succeeded", "success"),
        ([("enqueue", None, "succeeded")], "succeeded", "success"),
        ([("enqueue", None, "queued")], "queued", "cancelled"),
        ([("enqueue", None, "queued"), ("complete", "queued", "succeeded")], "succeeded", "success"),
        ([("enqueue", None, "queued"), ("complete", "running", "succeeded")], "succeeded", "success"),
        ([("enqueue", None, "queued"), ("cancel", "queued", "cancelled")], "cancelled", "failure"),
        ([("enqueue", None, "queued"), ("cancel", "queued", "cancelled")], "succeeded", "success"),
    ],
)
def test_nothing_comes_among_the_ended_that_did_not_end(
    hand: Hand, events: list[tuple[str, str | None, str]], state: str, outcome: str
) -> None:
    hand.spec(STANDARD, 1, "job-1")
    for rev, event in enumerate(events, 1):
        hand.event(1, rev, *event)

    with pytest.raises(psycopg.DatabaseError, match=END):
        ended(hand, 1, state, outcome, rev=max(len(events), 1))


@every_lifecycle
def test_record_of_a_job_that_has_not_ended_cannot_be_removed(hand: Hand, lifecycle: Lifecycle) -> None:
    for job, state in enumerate((each for each in lifecycle.states if each.phase != "ended"), 1):
        hand.bring(lifecycle, state.name, job)

        with pytest.raises(psycopg.DatabaseError, match=LEAVE):
            hand.ask(f"delete from detent_records where job = {job}")


def test_ended_row_of_another_job_does_not_let_a_record_go(hand: Hand) -> None:
    hand.bring(STANDARD, "succeeded", 1)
    hand.bring(STANDARD, "running", 2)

    with pytest.raises(psycopg.DatabaseError, match=LEAVE):
        hand.ask("delete from detent_records where job = 2")


def _begins(hand: Hand, lifecycle: Lifecycle, job: int, state: str, **changed: Any) -> bool:
    answer = refusal(lambda: hand.insert(RECORDS, hand.columns(lifecycle, job, state) | changed))
    assert answer is None or MOVE in answer or BEGIN in answer
    return answer is None
