"""Behind a pooler that lends its connections for one transaction at a time, with `prepare=False`."""

import asyncio
import time
from collections.abc import Iterator
from typing import Final

import psycopg
import pytest

from detent.store import Store
from detent.store.clock import Clock, Random
from detent.store.postgres import Address, PostgresStore
from detent.testing.contract.claims import Claims
from detent.testing.contract.lives import Lives
from detent.testing.contract.retention import Removal
from detent.testing.contract.tailing import Tailing
from tests.postgres import pooler as pooling
from tests.postgres.clients import opened
from tests.postgres.pooler import Pooler
from tests.store.sqlite.files import ids, is_sound, raises, run_to_success

BACKENDS: Final = 3
SOON_S: Final = 1.0
LEFT: Final = """
select (select count(*) from pg_prepared_statements), (select count(*) from pg_locks where locktype = 'advisory')
"""


@pytest.fixture
def pooler(pg_emptied: str) -> Iterator[Pooler]:
    with opened(pg_emptied):
        pass
    with Pooler(pg_emptied, backends=BACKENDS) as pooler:
        yield pooler


class TestBehindPooler(Lives, Claims, Tailing, Removal):
    """A part of the contract: making, claiming and moving jobs, following the log, and what is removed."""

    @pytest.fixture(autouse=True)
    def _pooler(self, pooler: Pooler) -> None:
        self.url = pooler.url

    def make_store(self, clock: Clock, random: Random) -> Store:
        return PostgresStore(Address(url=self.url, prepare=False), clock=clock, random=random)


def test_store_is_made_through_a_pooler(pg_url: str) -> None:
    with Pooler(pg_url) as pooler, opened(pooler.url, prepare=False) as client:
        run_to_success(client, 10)

        assert is_sound(client)


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_transaction_through_a_pooler_takes_part(pooler: Pooler, end: str) -> None:
    with opened(pooler.url, prepare=False) as client:
        with psycopg.connect(pooler.url, prepare_threshold=None) as mine:
            client.enqueue("scan", job_id="mine", tx=mine)
            client.enqueue("scan", job_id="beside")
            seen = ids(client)
            getattr(mine, end)()
        with client.transaction() as tx:
            client.enqueue("scan", job_id="own", tx=tx)

        assert seen == ["beside"]
        assert ids(client) == (["beside", "mine", "own"] if end == "commit" else ["beside", "own"])
        assert is_sound(client)


def test_nothing_is_left_on_the_connections_that_others_get(pooler: Pooler) -> None:
    with opened(pooler.url, prepare=False) as client:
        run_to_success(client, 20)
        client.verify()
        list(client.tail(timeout_s=0.05))
    with psycopg.connect(pooler.url, prepare_threshold=None, autocommit=True) as other:
        found = [other.execute(LEFT).fetchone() for _ in range(BACKENDS)]
        channels = [other.execute("select pg_listening_channels()").fetchall() for _ in range(BACKENDS)]

    assert found == [(0, 0)] * BACKENDS
    assert channels == [[]] * BACKENDS


def test_prepared_statements_that_get_lost_are_told_of_with_what_to_do(
    pooler: Pooler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a pooler that passes over settings that it does not know."""
    monkeypatch.setattr(pooling, "ACCEPTED", pooling.ACCEPTED | {"options"})
    with raises("store_unavailable") as refused, opened(pooler.url, connections=2) as client:
        run_to_success(client, 20)

    assert "connect with prepare=off" in str(refused.value)


@pytest.mark.alone
def test_client_writes_on_while_somebody_keeps_a_job_locked(pooler: Pooler, pg_emptied: str) -> None:
    """There is no time limit for locks behind a pooler: so nobody waits for one."""

    async def scene() -> float:
        async with opened(pooler.url, prepare=False) as client, opened(pg_emptied) as other:
            await client.enqueue("scan", job_id="job")
            async with other.transaction() as tx:
                await other.cancel("job", tx=tx)
                asked = asyncio.ensure_future(client.cancel("job"))
                await asyncio.wait([asked], timeout=0.1)
                began_s = time.monotonic()
                for _ in range(5):
                    await asyncio.wait_for(client.enqueue("scan"), 5)
                took_s = time.monotonic() - began_s
            await asyncio.wait([asked])
            return took_s

    assert asyncio.run(scene()) < SOON_S
