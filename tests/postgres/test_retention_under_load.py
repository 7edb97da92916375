"""Removal while others claim: nobody waits for it, and those that remove do not wait for each other."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

import psycopg
import pytest

from detent.store.query import Pruned
from tests.postgres.bulk import fill
from tests.postgres.clients import opened
from tests.postgres.server import Server, database_of

ENDED: Final = 3_000
CLAIMERS: Final = 4
JOBS: Final = 400
LOOK_S: Final = 0.002
# Whoever waits for a lock, and the names of those who have it.
_WAITING: Final = """
select w.application_name, array(
    select b.application_name from pg_stat_activity b where b.pid = any (pg_blocking_pids(w.pid))
)
from pg_stat_activity w where w.datname = %s and w.wait_event_type = 'Lock'
"""


def prune(url: str) -> Pruned:
    with opened(f"{url}?application_name=pruner") as client:
        return client.prune(successes_s=0, others_s=0)


def work(url: str, worker: str) -> int:
    """Claim and complete until there is nothing left; how many it were."""
    done = 0
    with opened(f"{url}?application_name=claimer") as client:
        while jobs := client.claim(worker=worker, limit=10, start=True):
            client.complete_many([{"job_id": job.id, "worker": worker, "attempt": job.attempt} for job in jobs])
            done += len(jobs)
    return done


@contextmanager
def watched(server: Server, url: str) -> Iterator[list[tuple[str, list[str]]]]:
    """Who waited for whom, looked at many times a second."""
    seen: list[tuple[str, list[str]]] = []
    ended = threading.Event()

    def watch() -> None:
        with server.connected() as connection:
            while not ended.wait(LOOK_S):
                seen.extend(connection.execute(_WAITING, (database_of(url),)).fetchall())

    thread = threading.Thread(target=watch)
    thread.start()
    yield seen
    ended.set()
    thread.join()


def test_who_waits_for_whom_is_seen(pg_server: Server, pg_emptied: str) -> None:
    with psycopg.connect(f"{pg_emptied}?application_name=pruner") as holder, opened(pg_emptied):
        holder.execute("create table held ()")
        holder.commit()
        holder.execute("lock table held")
        with watched(pg_server, pg_emptied) as waits, psycopg.connect(f"{pg_emptied}?application_name=other") as other:
            other.execute("set lock_timeout = 100")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                other.execute("lock table held")

    assert ("other", ["pruner"]) in waits


@pytest.mark.requirement("STD-13")
def test_no_claim_waits_for_a_removal_nor_one_removal_for_another(pg_server: Server, pg_emptied: str) -> None:
    with opened(pg_emptied) as client, psycopg.connect(pg_emptied) as connection:
        fill(connection, ENDED)
        connection.commit()
        client.enqueue_many([{"kind": "scan"} for _ in range(JOBS)])
        with watched(pg_server, pg_emptied) as waits, ThreadPoolExecutor(CLAIMERS + 2) as pool:
            pruners = [pool.submit(prune, pg_emptied) for _ in range(2)]
            claimers = [pool.submit(work, pg_emptied, f"w{n}") for n in range(CLAIMERS)]
            removed = [pruner.result().jobs for pruner in pruners]
            done = [claimer.result() for claimer in claimers]

        assert [wait for wait in waits if "pruner" in wait[1]] == []
        assert sum(done) == JOBS
        assert ENDED <= sum(removed) <= ENDED + JOBS
        assert client.prune(successes_s=0, others_s=0).jobs == ENDED + JOBS - sum(removed)
        assert client.verify().is_clean
