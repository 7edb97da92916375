"""Statements that were planned while the tables were young do not walk over them when they have grown."""

from collections.abc import Callable
from time import monotonic, sleep
from typing import Any, Final

import psycopg
import pytest

from detent.client import SyncClient
from tests.postgres.clients import opened
from tests.postgres.server import Server

TABLES: Final = ("detent_jobs", "detent_records", "detent_ended", "detent_events")
LIVES: Final = 8  # until every statement is prepared, and claims are decided beforehand
GROWN: Final = 5_000  # jobs
BATCH: Final = 1_000
FETCHED_MAX: Final = 1_000  # rows, of tables that have ten thousand
PATIENCE_S: Final = 15.0
# The server itself reads the log from one end to the other now and then, for the index of its moments.
_FETCHED: Final = """
    select sum(idx_tup_fetch + case when relname = 'detent_events' then 0 else seq_tup_read end)::bigint
    from pg_stat_user_tables where relname = any (%s)
"""

Verbs = Callable[[SyncClient], None]


def whole_lives(client: SyncClient) -> None:
    client.enqueue("scan", dedupe_key="one")
    client.enqueue_many([{"kind": "scan"}] * 3)
    jobs = [*client.claim(worker="w", kinds=["scan"], limit=1), *client.claim(worker="w", kinds=["scan"], limit=10)]
    owned = [{"job_id": job.id, "worker": "w", "attempt": job.attempt} for job in jobs]
    client.start_many(owned)
    client.renew_many(owned)
    client.cancel(jobs[0].id, actor="ann", reason="not needed")
    client.complete_many(owned[1:])
    client.reconcile()


def claims_of_what_is_there(client: SyncClient) -> None:
    """Decided beforehand: each takes the one job that there is."""
    client.enqueue("scan")
    assert len(client.claim(worker="w", kinds=["scan"], limit=5, start=True)) == 1


def grow(client: SyncClient) -> None:
    for _ in range(GROWN // BATCH):
        client.enqueue_many([{"kind": "mail", "queue": "later"}] * (2 * BATCH))
        jobs = client.claim(worker="v", queues=["later"], kinds=["mail"], limit=BATCH, start=True)
        client.complete_many([{"job_id": job.id, "worker": "v", "attempt": 1} for job in jobs])


def fetched(reader: "psycopg.Connection[Any]") -> int:
    """Rows so far. What a connection did is counted a little later."""
    last, deadline_s = -1, monotonic() + PATIENCE_S
    while monotonic() < deadline_s:
        reader.execute("select pg_stat_clear_snapshot()")
        ((now,),) = reader.execute(_FETCHED, [list(TABLES)]).fetchall()
        if now == last:
            return int(now)
        last = now
        sleep(1.2)
    raise AssertionError("somebody is still at work")


@pytest.mark.parametrize("verbs", [whole_lives, claims_of_what_is_there])
def test_plan_made_for_young_tables_does_not_walk_over_grown_ones(pg_server: Server, verbs: Verbs) -> None:
    """In a database of its own: what others did elsewhere would be counted late."""
    url = pg_server.new_database()
    with psycopg.connect(url, autocommit=True) as reader:
        with opened(url, connections=2) as client:
            for table in TABLES:
                reader.execute(f"alter table {table} set (autovacuum_enabled = off)")  # it would have them planned anew
            for _ in range(LIVES):
                verbs(client)
            with opened(url) as other:
                grow(other)
            before = fetched(reader)
            verbs(client)
        after = fetched(reader)

    pg_server.drop_database(url)

    assert after - before < FETCHED_MAX
