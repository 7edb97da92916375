"""Many jobs moved by one statement: one that is wrong among them is found, though they are looked at together."""

from typing import Final

import psycopg
import pytest

from detent.lifecycles import STANDARD
from tests.postgres.by_hand import Hand

CROWD: Final = 40
WRONG: Final = 17
MOVE: Final = "a move is declared, and has its event"
END: Final = "a job ends in a declared way, with its last event, and once"
LEAVE: Final = "only its end takes a job from the living"
CLAIM: Final = (2, "claim", "queued", "assigned")
START: Final = (3, "start", "assigned", "running")
CANCEL: Final = (2, "cancel", "queued", "cancelled")
RUN: Final = (
    "update detent_records set state = 'running', phase = 'active', rev = 3, owner = 'w', lease_expires_at = 1,"
    " claim_at = null, order_at = null"
)
GO: Final = "with gone as (delete from detent_records returning *) "
COME: Final = (
    "insert into detent_ended (job, tenant, queue, kind, lifecycle, state, phase, created_at, updated_at, rev,"
    " payload_digest, outcome, ended_at) select job, tenant, queue, kind, lifecycle, 'cancelled', 'ended', created_at,"
    " updated_at, 2, payload_digest, {outcome}, 1 from {source}"
)

Logged = tuple[int, str, str, str]


def crowd(hand: Hand, *usual: Logged, wrong: tuple[Logged, ...]) -> None:
    """Jobs that wait, and the events of what is to become of them: one has others."""
    for job in range(1, CROWD + 1):
        hand.begin(STANDARD, job)
        for event in wrong if job == WRONG else usual:
            hand.event(job, *event)


def test_crowd_that_is_claimed_and_started_at_once_is_let_in(hand: Hand) -> None:
    crowd(hand, CLAIM, START, wrong=(CLAIM, START))

    hand.ask(RUN)

    assert hand.ask("select distinct rev, state from detent_records") == [(3, "running")]


@pytest.mark.requirement("ALL-02", "ALL-03")
@pytest.mark.parametrize(
    "wrong",
    [
        (),
        (CLAIM,),
        (START,),
        ((2, "claim", "queued", "running"), START),
        ((2, "cancel", "queued", "assigned"), START),
        ((2, "claim", "assigned", "assigned"), START),
        ((2, "start", "assigned", "running"), START),
        ((2, "cancel", "queued", "cancelled"), START),
        (CLAIM, (3, "complete", "running", "succeeded")),
        (CLAIM, (3, "start", "queued", "running")),
    ],
)
def test_one_of_a_crowd_that_moves_without_its_declared_events_is_refused(
    hand: Hand, wrong: tuple[Logged, ...]
) -> None:
    crowd(hand, CLAIM, START, wrong=wrong)

    with pytest.raises(psycopg.DatabaseError, match=MOVE):
        hand.ask(RUN)


def test_crowd_of_which_some_move_and_others_do_not_is_let_in(hand: Hand) -> None:
    crowd(hand, CLAIM, START, wrong=())

    hand.ask(f"{RUN} where job <> {WRONG}")
    hand.ask("update detent_records set progress = 'half'")

    assert hand.ask("select count(*) from detent_records where rev = 3") == [(CROWD - 1,)]


def test_crowd_that_ends_is_let_in(hand: Hand) -> None:
    crowd(hand, CANCEL, wrong=(CANCEL,))

    hand.ask(GO + COME.format(outcome="'cancelled'", source="gone"))

    assert hand.ask("select count(*) from detent_ended") == [(CROWD,)]
    assert hand.ask("select count(*) from detent_records") == [(0,)]


@pytest.mark.requirement("ALL-02", "ALL-03")
@pytest.mark.parametrize(
    "wrong",
    [
        (),
        ((2, "claim", "queued", "assigned"),),
        ((2, "complete", "queued", "cancelled"),),
        ((2, "cancel", "running", "cancelled"),),
        ((2, "cancel", "queued", "succeeded"),),
    ],
)
def test_one_of_a_crowd_that_ends_without_its_declared_event_is_refused(hand: Hand, wrong: tuple[Logged, ...]) -> None:
    crowd(hand, CANCEL, wrong=wrong)

    with pytest.raises(psycopg.DatabaseError, match=END):
        hand.ask(GO + COME.format(outcome="'cancelled'", source="gone"))


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        (GO + COME.format(outcome=f"case job when {WRONG} then 'failure' else 'cancelled' end", source="gone"), END),
        (COME.format(outcome="'cancelled'", source="detent_records"), END),
        (GO + COME.format(outcome="'cancelled'", source=f"gone where job <> {WRONG}"), LEAVE),
        (
            GO.replace(" returning", f" where job <> {WRONG} returning")
            + COME.format(outcome="'cancelled'", source="detent_records"),
            END,
        ),
    ],
    ids=["another outcome", "nobody left", "one that did not come", "one that stayed"],
)
def test_crowd_leaves_and_comes_as_one(hand: Hand, statement: str, refusal: str) -> None:
    crowd(hand, CANCEL, wrong=(CANCEL,))

    with pytest.raises(psycopg.DatabaseError, match=f"{refusal}|check constraint"):
        hand.ask(statement)
    assert hand.ask("select count(*) from detent_ended") == [(0,)]
