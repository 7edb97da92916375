"""A move that the lifecycle does not declare, or that has no event, is refused by the database, whoever writes it."""

from functools import partial
from typing import Any, Final

import psycopg
import pytest

from detent.lifecycle import Lifecycle
from detent.lifecycle.words import VERBS
from detent.lifecycles import BUILT_IN, STANDARD
from tests.postgres.by_hand import Hand, fitting, refusal
from tests.store.declared import (
    Triple,
    declared,
    let_in_with_another_outcome,
    let_in_with_another_phase,
    way_to,
)

MOVE: Final = "a move is declared, and has its event"
STEP: Final = "a move is a step up in rev, of the same job"
LEAVE: Final = "only its end takes a job from the living"
END: Final = "a job ends in a declared way, with its last event, and once"
every_lifecycle = pytest.mark.parametrize("lifecycle", BUILT_IN.values(), ids=lambda each: each.name)


@pytest.mark.requirement("ALL-02", "STD-01")
@every_lifecycle
def test_of_all_moves_one_can_write_the_declared_ones_are_let_in_and_no_others(
    hand: Hand, lifecycle: Lifecycle
) -> None:
    states = [state.name for state in lifecycle.states if state.phase != "ended"]
    let_in: set[Triple] = set()
    for job, source in enumerate(states, 1):
        hand.bring(lifecycle, source, job)
        let_in |= {
            triple
            for verb in VERBS
            for target in lifecycle.by_name
            if _is_let_in(hand, lifecycle, triple := (source, verb, target), job)
        }

    assert let_in == declared(lifecycle)


@pytest.mark.requirement("ALL-02")
@every_lifecycle
def test_declared_move_with_the_phase_of_another_state_is_refused(hand: Hand, lifecycle: Lifecycle) -> None:
    assert let_in_with_another_phase(hand, lifecycle, partial(_is_let_in, hand), fitting) == []


@every_lifecycle
def test_end_with_another_outcome_than_declared_is_refused(hand: Hand, lifecycle: Lifecycle) -> None:
    assert let_in_with_another_outcome(hand, lifecycle, partial(_is_let_in, hand), fitting) == []


@pytest.mark.requirement("ALL-04")
@pytest.mark.parametrize("rev", [3, 1, 0, -1, 100])
def test_rev_steps_by_one_and_in_no_other_way(hand: Hand, rev: int) -> None:
    hand.begin(STANDARD)
    if rev != 1:
        hand.event(1, rev, "claim", "queued", "assigned")  # an event of that rev does not help

    with pytest.raises(psycopg.DatabaseError, match=STEP if rev <= 1 else MOVE):
        hand.update(1, state="assigned", rev=rev, **fitting("held", None))
    assert hand.ask("select rev from detent_records") == [(1,)]


def test_several_declared_moves_with_their_events_are_one_step(hand: Hand) -> None:
    hand.begin(STANDARD)
    hand.event(1, 2, "claim", "queued", "assigned")
    hand.event(1, 3, "start", "assigned", "running")

    hand.update(1, state="running", rev=3, **fitting("active", None))

    assert hand.ask("select rev, state from detent_records") == [(3, "running")]


@pytest.mark.requirement("ALL-02", "ALL-03")
@pytest.mark.parametrize(
    "between",
    [
        [],
        [(2, "claim", "queued", "running")],
        [(2, "cancel", "queued", "assigned")],
        [(2, "claim", "running", "assigned")],
        [(2, "cancel", "queued", "cancelled")],
    ],
    ids=["no event", "another target", "another verb", "another source", "an end"],
)
def test_each_of_several_moves_in_one_step_is_declared_and_has_its_event(hand: Hand, between: list[Any]) -> None:
    hand.begin(STANDARD)
    for rev, verb, source, target in between:
        hand.event(1, rev, verb, source, target)
    hand.event(1, 3, "start", "assigned", "running")

    with pytest.raises(psycopg.DatabaseError, match=MOVE):
        hand.update(1, state="running", rev=3, **fitting("active", None))


@pytest.mark.parametrize("rev", [3, 1, 0, 100])
def test_end_is_one_step_of_rev_too(hand: Hand, rev: int) -> None:
    hand.begin(STANDARD)

    with pytest.raises(psycopg.DatabaseError, match=f"{END}|{LEAVE}|detent_events_job"):
        hand.move(STANDARD, ("queued", "cancel", "cancelled"), rev=rev)


@pytest.mark.requirement("ALL-03")
@every_lifecycle
def test_declared_move_without_its_event_is_refused(hand: Hand, lifecycle: Lifecycle) -> None:
    let_in = []
    steps = [each for each in sorted(declared(lifecycle)) if lifecycle.by_name[each[2]].phase != "ended"]
    for job, (source, _, target) in enumerate(steps, 1):
        hand.bring(lifecycle, source, job)
        state, rev = lifecycle.by_name[target], len(way_to(lifecycle, source)) + 2
        write = partial(hand.update, job, state=target, rev=rev, **fitting(state.phase, state.outcome))
        let_in += [(source, target)] if MOVE not in (refusal(write) or "") else []

    assert let_in == []


@pytest.mark.requirement("ALL-03")
@pytest.mark.parametrize(
    ("verb", "source", "target"),
    [("cancel", "queued", "assigned"), ("claim", "running", "assigned"), ("claim", "queued", "queued")],
)
def test_event_of_another_move_does_not_let_a_move_in(hand: Hand, verb: str, source: str, target: str) -> None:
    hand.begin(STANDARD)
    hand.event(1, 2, verb, source, target)

    with pytest.raises(psycopg.DatabaseError, match=MOVE):
        hand.update(1, state="assigned", rev=2, **fitting("held", None))


def test_declared_event_that_does_not_follow_the_one_before_is_no_help(hand: Hand) -> None:
    """It is declared from where it says that it comes, but that is not where the job is."""
    hand.begin(STANDARD)

    with pytest.raises(psycopg.DatabaseError, match=MOVE):
        hand.move(STANDARD, ("assigned", "start", "running"))
    with pytest.raises(psycopg.DatabaseError, match=f"{END}|{LEAVE}"):
        hand.move(STANDARD, ("running", "complete", "succeeded"))


@pytest.mark.requirement("ALL-02")
@pytest.mark.parametrize("wrong", [0, 49, 99])
def test_batch_with_one_wrong_row_is_refused_whole(hand: Hand, wrong: int) -> None:
    for job in range(100):
        hand.begin(STANDARD, job)
        verb = "start" if job == wrong else "claim"
        hand.event(job, 2, verb, "queued", "assigned")

    with pytest.raises(psycopg.DatabaseError, match=MOVE):
        hand.ask(
            "update detent_records set state = 'assigned', phase = 'held', rev = 2, owner = 'w', "
            "lease_expires_at = 1, claim_at = null, order_at = null"
        )
    assert hand.ask("select distinct state, rev from detent_records") == [("queued", 1)]


def _is_let_in(hand: Hand, lifecycle: Lifecycle, triple: Triple, job: int, **changed: Any) -> bool:
    """Whether the database takes the move. It is undone either way."""
    rev = len(way_to(lifecycle, triple[0])) + 2
    with hand.db.transaction(force_rollback=True):
        answer = refusal(lambda: hand.move(lifecycle, triple, job, rev, **changed))
    assert answer is None or MOVE in answer or END in answer or LEAVE in answer
    return answer is None
