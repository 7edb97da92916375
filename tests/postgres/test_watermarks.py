"""Claims while nothing can be cleared away: where they begin to look, and when they look from the start again."""

from collections.abc import Iterator

import pytest

from detent.client import SyncClient, connect
from detent.kernel.command import Claim
from detent.store import ClaimRequest
from detent.store.postgres import watermarks
from detent.store.postgres.store import PostgresStore
from detent.store.postgres.watermarks import Lane, Place, Watermarks

LANE: Lane = ("default", "scan", "")
REQUEST = ClaimRequest("default", Claim(worker="w"), kinds=("scan",))
AT: dict[Lane, Place] = {LANE: (100, 7)}
SLOW_S = 0.5


class Times:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def times() -> Times:
    return Times()


@pytest.fixture
def marks(times: Times) -> Watermarks:
    return Watermarks(times)


def slowly(marks: Watermarks, looks: int = watermarks.LOOKS) -> None:
    marks.looked(REQUEST, AT, took_s=0.001, rows=1)
    for _ in range(looks):
        marks.looked(REQUEST, AT, took_s=SLOW_S, rows=1)


def test_quick_look_leaves_no_mark(marks: Watermarks) -> None:
    marks.looked(REQUEST, AT, took_s=0.001, rows=1)

    assert marks.start(REQUEST) is None


def test_many_rows_may_take_longer(marks: Watermarks) -> None:
    marks.looked(REQUEST, AT, took_s=0.001, rows=1)
    for _ in range(watermarks.LOOKS):
        marks.looked(REQUEST, AT, took_s=0.05, rows=1_000)

    assert marks.start(REQUEST) is None


def test_look_that_did_not_see_all_lanes_makes_no_mark_and_asks_for_one_that_does(marks: Watermarks) -> None:
    marks.looked(REQUEST, None, took_s=0.001, rows=1)
    for _ in range(watermarks.LOOKS):
        wanted_before = marks.wants_mark(REQUEST)
        marks.looked(REQUEST, None, took_s=SLOW_S, rows=1)

    assert (wanted_before, marks.wants_mark(REQUEST), marks.start(REQUEST)) == (False, True, None)
    marks.looked(REQUEST, AT, took_s=SLOW_S, rows=1)
    assert (marks.wants_mark(REQUEST), marks.start(REQUEST)) == (False, AT)


def test_mark_that_has_served_its_time_is_wanted_anew(marks: Watermarks, times: Times) -> None:
    slowly(marks)
    times.now += watermarks.REST * SLOW_S + 1

    assert marks.wants_mark(REQUEST)


def test_one_slow_look_may_be_a_busy_machine(marks: Watermarks) -> None:
    slowly(marks, watermarks.LOOKS - 1)

    assert marks.start(REQUEST) is None


def test_what_was_always_slow_is_as_quick_as_it_can_be(marks: Watermarks) -> None:
    for _ in range(watermarks.LOOKS):
        marks.looked(REQUEST, AT, took_s=SLOW_S, rows=1)

    assert marks.start(REQUEST) is None


def test_next_claim_begins_where_a_slow_look_ended(marks: Watermarks) -> None:
    slowly(marks)

    assert marks.start(REQUEST) == AT


def test_claim_of_other_queues_begins_at_the_start(marks: Watermarks) -> None:
    slowly(marks)

    assert marks.start(ClaimRequest("default", Claim(worker="w"), kinds=("mail",))) is None
    assert marks.start(ClaimRequest("acme", Claim(worker="w"), kinds=("scan",))) is None


def test_mark_goes_along_with_the_claims(marks: Watermarks) -> None:
    slowly(marks)

    marks.went_on(REQUEST, {LANE: (200, 9)})

    assert marks.start(REQUEST) == {LANE: (200, 9)}


def test_looks_from_the_start_take_a_tenth_of_the_time_at_most(marks: Watermarks, times: Times) -> None:
    slowly(marks)

    times.now += 10 * SLOW_S - 0.01
    assert marks.start(REQUEST) is not None
    times.now += 0.02
    assert marks.start(REQUEST) is None


def test_job_that_comes_before_the_mark_takes_it_away(marks: Watermarks) -> None:
    slowly(marks)

    marks.came("default", LANE, (100, 8))  # behind it
    marks.came("default", ("default", "mail", ""), (1, 1))  # elsewhere
    assert marks.start(REQUEST) == AT
    marks.came("default", LANE, (99, 8))

    assert marks.start(REQUEST) is None


def test_job_in_a_lane_that_was_empty_takes_the_mark_away(marks: Watermarks) -> None:
    slowly(marks)

    marks.came("default", ("default", "scan", "gpu"), (500, 9))

    assert marks.start(REQUEST) is None


@pytest.fixture
def slow(pg_emptied: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[SyncClient]:
    """Every look from the start counts as slow, so that there is always a mark."""
    monkeypatch.setattr(watermarks, "SLOW_S", -1.0)
    monkeypatch.setattr(watermarks, "SLOWER", 0.0)
    monkeypatch.setattr(watermarks, "LOOKS", 1)
    monkeypatch.setattr(watermarks, "REST", 1e9)
    with connect(pg_emptied) as client:
        yield client


def test_jobs_after_the_mark_are_claimed_in_their_order(slow: SyncClient) -> None:
    made = [slow.enqueue("scan", {"n": n}).id for n in range(6)]

    claimed = [slow.claim(worker="w", kinds=["scan"])[0].id for _ in made]

    assert claimed == made
    assert store_of(slow).memory.watermarks.is_used
    assert slow.claim(worker="w", kinds=["scan"]) == []


def test_own_job_of_high_priority_comes_first_all_the_same(slow: SyncClient) -> None:
    slow.enqueue_many([{"kind": "scan"} for _ in range(3)])
    slow.claim(worker="w", kinds=["scan"])
    urgent = slow.enqueue("scan", priority=9)

    assert [job.id for job in slow.claim(worker="w", kinds=["scan"])] == [urgent.id]


def test_job_of_another_client_before_the_mark_is_found_when_nothing_is_behind_it(
    slow: SyncClient, pg_emptied: str
) -> None:
    slow.enqueue("scan")
    slow.claim(worker="w", kinds=["scan"])
    with connect(pg_emptied) as other:
        urgent = other.enqueue("scan", priority=9)

    assert [job.id for job in slow.claim(worker="w", kinds=["scan"])] == [urgent.id]


def test_claim_of_several_lanes_leaves_behind_what_it_did_not_take(slow: SyncClient) -> None:
    """More is locked than taken there; the mark stands after what was taken."""
    made = [slow.enqueue(kind).id for kind in ("scan", "mail", "scan", "mail", "scan", "mail")]

    claimed = [slow.claim(worker="w", kinds=["scan", "mail"])[0].id for _ in made]

    assert claimed == made


def store_of(client: SyncClient) -> PostgresStore:
    store = client.client.store
    assert isinstance(store, PostgresStore)
    return store
