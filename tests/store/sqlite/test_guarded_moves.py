"""A move that the lifecycle does not declare, or that has no event, is refused by the file, whoever writes it."""

from functools import partial
from typing import Any, Final

import apsw
import pytest

from detent.lifecycle import Lifecycle
from detent.lifecycle.words import VERBS
from detent.lifecycles import BUILT_IN
from tests.store.declared import (
    Triple,
    declared,
    let_in_with_another_outcome,
    let_in_with_another_phase,
    way_to,
)
from tests.store.sqlite.by_hand import Hand, fitting, refusal

MOVE: Final = "a move is declared, one step of rev, with its event"
BEGIN: Final = "a job begins with its first event, in a declared way"
every_lifecycle = pytest.mark.parametrize("lifecycle", BUILT_IN.values(), ids=lambda each: each.name)


@pytest.mark.requirement("ALL-02", "STD-01")
@every_lifecycle
def test_of_all_moves_one_can_write_the_declared_ones_are_let_in_and_no_others(
    hand: Hand, lifecycle: Lifecycle
) -> None:
    states = [state.name for state in lifecycle.states]
    let_in: set[Triple] = set()
    for job, source in enumerate(states, 1):
        hand.bring(lifecycle, source, job)
        let_in |= {
            triple
            for verb in VERBS
            for target in states
            if _is_let_in(hand, lifecycle, triple := (source, verb, target), job)
        }

    assert let_in == declared(lifecycle)


@pytest.mark.requirement("ALL-10")
@every_lifecycle
def test_nothing_leaves_an_end_not_even_a_move_that_was_declared_by_hand(hand: Hand, lifecycle: Lifecycle) -> None:
    for job, state in enumerate((each for each in lifecycle.states if each.phase == "ended"), 1):
        hand.bring(lifecycle, state.name, job)
        row = (hand.number(lifecycle), state.name, "renew", state.name, "ended", state.outcome)
        hand.db.execute("insert into detent_moves values (?, ?, ?, ?, ?, ?)", row)

        with pytest.raises(apsw.ConstraintError, match="an ended job stays"):
            hand.move(lifecycle, (state.name, "renew", state.name), job)


@pytest.mark.requirement("ALL-02")
@every_lifecycle
def test_declared_move_with_the_phase_of_another_state_is_refused(hand: Hand, lifecycle: Lifecycle) -> None:
    assert let_in_with_another_phase(hand, lifecycle, partial(_is_let_in, hand), fitting) == []


@every_lifecycle
def test_end_with_another_outcome_than_declared_is_refused(hand: Hand, lifecycle: Lifecycle) -> None:
    assert let_in_with_another_outcome(hand, lifecycle, partial(_is_let_in, hand), fitting) == []


@pytest.mark.requirement("ALL-04")
@pytest.mark.parametrize("rev", [3, 1, 0, -1, 100])
@every_lifecycle
def test_rev_steps_by_one_and_in_no_other_way(hand: Hand, lifecycle: Lifecycle, rev: int) -> None:
    first = lifecycle.table.start.leg.state.name
    triple = next(each for each in sorted(declared(lifecycle)) if each[0] == first)
    hand.begin(lifecycle)

    if rev != 1:
        hand.event(1, rev, triple[1], first, triple[2])  # an event of that rev does not help
    state = lifecycle.by_name[triple[2]]

    with pytest.raises(apsw.ConstraintError, match=MOVE):
        hand.update(1, state=triple[2], rev=rev, **fitting(state.phase, state.outcome))
    assert hand.row()["rev"] == 1


@pytest.mark.requirement("ALL-03")
@every_lifecycle
def test_declared_move_without_its_event_is_refused(hand: Hand, lifecycle: Lifecycle) -> None:
    let_in = []
    for job, (source, _, target) in enumerate(sorted(declared(lifecycle)), 1):
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
    hand.begin(BUILT_IN["standard"])
    hand.event(1, 2, verb, source, target)

    with pytest.raises(apsw.ConstraintError, match=MOVE):
        hand.update(1, state="assigned", rev=2, **fitting("held", None))


@every_lifecycle
def test_record_without_its_first_event_is_refused(hand: Hand, lifecycle: Lifecycle) -> None:
    first = lifecycle.table.start.leg.state.name
    hand.spec(lifecycle, 1, "job-1")

    with pytest.raises(apsw.ConstraintError, match=BEGIN):
        hand.record(lifecycle, 1, first)


@every_lifecycle
def test_record_that_begins_in_another_state_or_at_another_rev_is_refused(hand: Hand, lifecycle: Lifecycle) -> None:
    first = lifecycle.table.start.leg.state.name
    let_in = []
    for job, state in enumerate(lifecycle.states, 1):
        hand.event(job, 1, "enqueue", None, state.name)
        revs = (1, 2) if state.name != first else (2,)
        let_in += [(state.name, rev) for rev in revs if _begins(hand, lifecycle, job, state.name, rev=rev)]

    assert let_in == []
    assert _begins(hand, lifecycle, 1 + [state.name for state in lifecycle.states].index(first), first)


def _begins(hand: Hand, lifecycle: Lifecycle, job: int, state: str, **changed: Any) -> bool:
    answer = refusal(lambda: hand.record(lifecycle, job, state, **changed))
    assert answer is None or BEGIN in answer
    return answer is None


def _is_let_in(hand: Hand, lifecycle: Lifecycle, triple: Triple, job: int, **changed: Any) -> bool:
    """Whether the file takes the move. It is undone either way."""
    hand.db.execute("savepoint attempt")
    answer = refusal(lambda: hand.move(lifecycle, triple, job, **changed))
    hand.db.execute("rollback to attempt; release attempt")
    assert answer is None or MOVE in answer
    return answer is None
