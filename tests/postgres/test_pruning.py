"""Removal on a server that others use: in batches that share the work, and in nobody's way."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import psycopg
import pytest

from detent.client import SyncClient
from detent.store.postgres import pruning
from detent.store.postgres.definitions import Definitions
from detent.store.postgres.script import Ask, run
from detent.store.postgres.session import Session
from detent.store.query import Pruned
from detent.store.rows import Row
from tests.postgres.bulk import fill
from tests.postgres.clients import opened

JOBS: Final = 3_000
EVENTS_PER_JOB: Final = 2
KEPT: Final = ("detent_jobs", "detent_ended", "detent_events", "detent_notes", "detent_event_details")


@pytest.fixture
def client(pg_emptied: str) -> Iterator[SyncClient]:
    with opened(pg_emptied) as client:
        yield client


def left(url: str) -> list[int]:
    with psycopg.connect(url) as connection:
        return [connection.execute(f"select count(*) from {name}").fetchall()[0][0] for name in KEPT]


@pytest.mark.requirement("STD-13")
def test_several_that_remove_at_once_share_the_work(pg_emptied: str, client: SyncClient) -> None:
    with psycopg.connect(pg_emptied) as connection:
        fill(connection, JOBS)
    removed: list[Pruned] = []

    def remove() -> None:
        with opened(pg_emptied) as other:
            removed.append(other.prune(successes_s=0, others_s=0))

    threads = [threading.Thread(target=remove) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(each.jobs for each in removed) == JOBS
    assert sum(each.events for each in removed) == JOBS * EVENTS_PER_JOB
    assert left(pg_emptied) == [0] * len(KEPT)


@pytest.mark.requirement("STD-13")
def test_jobs_that_somebody_else_is_removing_are_left_to_them(pg_emptied: str, client: SyncClient) -> None:
    with psycopg.connect(pg_emptied) as connection, psycopg.connect(pg_emptied) as other:
        fill(connection, 10)
        connection.commit()
        other.execute("select 1 from detent_ended where job <= 4 for update")
        removed = client.prune(successes_s=0, others_s=0)
        other.rollback()

    assert removed.jobs == 6
    assert client.prune(successes_s=0, others_s=0).jobs == 4


@pytest.mark.requirement("STD-13")
def test_removal_that_is_not_committed_yet_stops_no_work(pg_emptied: str, client: SyncClient) -> None:
    """Whatever it locks nobody needs: not to make a job, nor to claim, renew, end, cancel or find one."""
    client.cancel(client.enqueue("scan", job_id="old").id)
    with psycopg.connect(pg_emptied) as connection:
        removed = run(pruning.purge(Session(Definitions()), "default", ["old"]), _on(connection))
        client.enqueue("scan", job_id="new")
        (claimed,) = client.claim(worker="w", start=True)
        renewed = client.renew("new", worker="w", attempt=1, expected_rev=claimed.rev)
        client.complete("new", worker="w", attempt=1, expected_rev=renewed.rev)
        client.cancel(client.enqueue("scan", job_id="newer").id)
        seen = {job.id for job in client.find()}
        connection.rollback()

    assert removed.jobs == 1
    assert seen == {"old", "new", "newer"}
    assert client.verify().is_clean


def _on(connection: "psycopg.Connection[Any]") -> Callable[[Ask], list[Row]]:
    def execute(asked: Ask) -> list[Row]:
        cursor = psycopg.RawCursor(connection)
        cursor.execute(asked.sql.encode(), asked.values)
        return cursor.fetchall() if cursor.description else []

    return execute


@pytest.mark.requirement("STD-13")
def test_named_jobs_are_removed_if_they_have_ended(pg_emptied: str, client: SyncClient) -> None:
    for name in ("a", "b", "c"):
        client.enqueue("scan", job_id=name)
    for name in ("a", "b"):
        client.cancel(name)
    removed = client.purge(["a", "c", "nobody"])

    assert (removed.jobs, removed.events) == (1, 2)
    assert sorted(job.id for job in client.find()) == ["b", "c"]
    assert client.verify().is_clean
