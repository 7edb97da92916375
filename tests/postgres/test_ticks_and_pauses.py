"""Ticks when connections are lost, and pauses when others keep rows locked or a queue is long."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg
import pytest

from detent.client import SyncClient
from detent.store.postgres.claiming import statement
from detent.store.postgres.script import ask
from detent.store.postgres.values import numbers, texts
from tests.postgres.clients import opened
from tests.postgres.cutting import Cutter, pass_all
from tests.postgres.explaining import touching
from tests.postgres.moments import Once
from tests.postgres.sweeping import MOMENTS_MAX, Two, statement_begins, statement_ends
from tests.postgres.waiting import until

TICK: Final = datetime(2026, 11, 16, 3, tzinfo=UTC)
AFTER: Final = TICK + timedelta(days=1)
MOMENTS: Final[dict[str, Any]] = {
    "before a statement": (statement_begins, "seen"),
    "before its answer": (statement_ends, "answered"),
}
WAITING: Final = 3_000
PAGES_MAX: Final = 12  # the roots of a few indexes


@pytest.fixture
def cutter(pg_emptied: str) -> Iterator[Cutter]:
    with Cutter(pg_emptied) as cutter:
        yield cutter


@pytest.fixture
def two(cutter: Cutter, pg_emptied: str) -> Iterator[Two]:
    with opened(cutter.url) as lossy, opened(pg_emptied) as beside:
        yield Two(lossy, beside)


def keep(client: SyncClient, name: str) -> None:
    client.keep_schedules([{"name": name, "cron": "0 3 * * *", "kind": name, "next_at": TICK}])


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("job", ["with a job", "alone"])
def test_tick_whose_end_is_not_heard_of_is_had_once_and_by_whoever_had_it(
    cutter: Cutter, two: Two, moment: str, job: str
) -> None:
    chosen, when = MOMENTS[moment]
    for nth in range(1, MOMENTS_MAX):
        name = f"name{nth}"
        keep(two.lossy, name)
        item = {"kind": name} if job == "with a job" else None
        cutter.decide = lost = Once("cut", chosen, nth=nth, when=when)

        had = two.lossy.advance_schedule(name, expected=TICK, next_at=AFTER, job=item)

        cutter.decide = pass_all
        again = two.beside.advance_schedule(name, expected=TICK, next_at=AFTER, job=item)
        made = len(two.beside.find(kind=name).items)
        assert (nth, had, again, made) == (nth, True, False, 0 if item is None else 1)
        if not lost.happened.is_set():
            break
    assert 1 < nth < MOMENTS_MAX - 1


def test_queue_can_be_paused_while_somebody_who_fills_it_keeps_its_limit_locked(pg_emptied: str) -> None:
    with opened(pg_emptied, busy_s=0.2) as client, opened(pg_emptied) as other:
        client.limit_queue("ocr", depth_max=10)
        with other.transaction() as tx:
            other.enqueue("scan", queue="ocr", tx=tx)
            client.pause_queue("ocr", actor="ann")

            assert client.queue("ocr").paused_by == "ann"


@pytest.mark.parametrize("lane", ["lane", "patient_lane"])
def test_claim_looks_at_nothing_in_a_paused_queue_however_much_waits(pg_emptied: str, lane: str) -> None:
    jobs = [{"kind": "scan", "queue": "ocr", "priority": -1 if lane == "patient_lane" else 0}] * WAITING
    values = {
        "now": None, "tenant": "default", "queues": texts(["ocr"]), "kinds": texts(["scan"]), "adapters": texts([""]),
        "orders": numbers([-(2**63)]), "jobs": numbers([0]), "limit": 1_000,
    }  # fmt: skip
    with opened(pg_emptied) as client, touching(pg_emptied) as touched:
        client.enqueue_many(jobs)
        before = touched(iter([ask(statement(lane), values)]))  # type: ignore[arg-type]  # of one statement
        client.pause_queue("ocr")
        paused = touched(iter([ask(statement(lane), values)]))  # type: ignore[arg-type]

    assert before > 100 * PAGES_MAX
    assert paused <= PAGES_MAX


def test_reports_of_workers_fit_into_the_page_of_the_last(pg_emptied: str) -> None:
    """No index hears of them: a worker that reports for weeks leaves nothing to be cleared away."""
    where: Any = {"host": "h", "pid": 1, "started_at": TICK, "queues": ["default"], "slots": 30}
    with psycopg.connect(pg_emptied, autocommit=True) as reader:
        updates, hot = updated(reader)
        with opened(pg_emptied) as client:
            for running in range(21):
                client.report_worker("w1", running=running, **where)

        assert until(lambda: updated(reader) == (updates + 20, hot + 20)), "counted when the connection has ended"


def updated(reader: "psycopg.Connection[Any]") -> tuple[int, int]:
    reader.execute("select pg_stat_clear_snapshot()")
    counted = "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'detent_workers'"
    updates, hot = reader.execute(counted).fetchall()[0]
    return updates, hot
