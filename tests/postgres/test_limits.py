"""Limits per key on PostgreSQL: who counts a key has it locked, others pass it over, and nobody pays who has none."""

from collections.abc import Iterator
from typing import Any, Final

import psycopg
import pytest

from detent import Limit, Policy, SyncClient
from detent.kernel.command import Claim
from detent.store import ClaimRequest, Keeping
from detent.store.dice import Dice
from detent.store.postgres import verbs
from detent.store.postgres.definitions import Definitions
from detent.store.postgres.script import Ask, run
from detent.store.postgres.session import KEYS_MAX, Session
from detent.store.postgres.statements import SQL
from tests.postgres.clients import opened

ONE: Final = Policy(limit=Limit(concurrency_max=1))


@pytest.fixture
def client(pg_url: str) -> Iterator[SyncClient]:
    with opened(pg_url) as client:
        yield client


def make(client: SyncClient, *ids: str, **fields: Any) -> None:
    for job_id in ids:
        asked: dict[str, Any] = {"kind": "scan", "job_id": job_id, "policy": ONE, "limit_key": "k"} | fields
        client.enqueue(**asked)


def ids_of(jobs: list[Any]) -> list[str]:
    return [job.id for job in jobs]


def test_key_that_somebody_is_counting_is_passed_over(client: SyncClient) -> None:
    make(client, "a", "b")
    make(client, "free", policy=None, limit_key=None)
    make(client, "other", limit_key="other")
    with client.transaction() as tx:
        first = client.claim(worker="w1", tx=tx)
        meanwhile = client.claim(worker="w2", limit=10)

        assert (ids_of(first), ids_of(meanwhile)) == (["a"], ["free", "other"])
    assert client.claim(worker="w2", limit=10) == []


def test_place_that_was_not_taken_after_all_is_free(client: SyncClient) -> None:
    make(client, "a", "b")
    with client.transaction() as tx:
        taken = client.claim(worker="w1", tx=tx)
        tx.execute("rollback")
        tx.execute("begin")

    assert ids_of(taken) == ["a"]
    assert ids_of(client.claim(worker="w2", limit=10)) == ["a"]


@pytest.mark.parametrize("level", ["REPEATABLE_READ", "SERIALIZABLE"])
def test_transaction_that_cannot_see_what_others_did_takes_no_limited_job(
    client: SyncClient, pg_url: str, level: str
) -> None:
    make(client, "a")
    make(client, "free", policy=None, limit_key=None)
    with psycopg.connect(pg_url) as connection:
        connection.isolation_level = psycopg.IsolationLevel[level]
        with connection.transaction():
            taken = client.claim(worker="w1", limit=10, tx=connection)

    assert ids_of(taken) == ["free"]
    assert ids_of(client.claim(worker="w2", limit=10)) == ["a"]


def test_claim_locks_a_bounded_number_of_keys(client: SyncClient) -> None:
    """The table of locks is the whole server's."""
    client.enqueue_many([{"kind": "scan", "policy": ONE, "limit_key": f"k{number}"} for number in range(KEYS_MAX + 10)])

    assert len(client.claim(worker="w1", limit=1_000)) == KEYS_MAX
    assert len(client.claim(worker="w1", limit=1_000)) == 10


def statements_of_a_claim(url: str, **more: Any) -> list[str]:
    """What a claim asks the server, one journey each."""
    asked: list[str] = []
    request = ClaimRequest("default", Claim(worker="w1"), kinds=("scan",), adapters=(), **more)
    with psycopg.Connection[Any].connect(url) as connection:
        cursor = psycopg.RawCursor(connection)

        def execute(ask: Ask) -> list[Any]:
            asked.append(ask.sql)
            cursor.execute(ask.sql.encode(), ask.values)
            return cursor.fetchall() if cursor.description else []

        run(verbs.claim(Session(Definitions()), request, Dice(lambda: 0.5), Keeping()), execute)
        connection.rollback()
    return [sql for sql in asked if "detent_lifecycles" not in sql and "detent_policies" not in sql]


def test_claim_of_jobs_without_a_key_takes_no_journey_more(client: SyncClient, pg_url: str) -> None:
    make(client, "a", "b", policy=None, limit_key=None)
    plain = statements_of_a_claim(pg_url)
    make(client, "c")
    (job,) = client.claim(worker="w1", queues=["default"], limit=1)
    client.cancel(job.id, mode="hard", actor="ops", role="operator")
    client.cancel("b", mode="hard", actor="ops", role="operator")
    limited = statements_of_a_claim(pg_url)

    assert len(plain) == 2  # it finds and locks, and it writes
    assert "limit_key <>" not in plain[0]
    assert len(limited) == 4  # it locks the key and counts in between


def test_counting_goes_by_the_index_of_what_is_leased(client: SyncClient, pg_url: str) -> None:
    make(client, "a")
    client.claim(worker="w1")
    with psycopg.connect(pg_url) as connection:
        connection.execute("set enable_seqscan = off")
        for name in ("used_up", "key_uses", "key_holders"):
            sql = SQL[name].replace(":tenant::", "'default'::").replace(":now::", "0::").replace(":limit::", "5::")
            sql = sql.replace(":keys::", "'{k}'::").replace(":limit_key::", "'k'::")
            plan = "\n".join(line for (line,) in connection.execute(f"explain {sql}").fetchall())
            assert "detent_records_limited" in plan, name
