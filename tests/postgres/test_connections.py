"""How many connections a client has: none before it is needed, few ever, none in the end."""

import asyncio
import threading
from typing import Final

import pytest

from detent import Client
from tests.postgres.clients import opened
from tests.postgres.server import Server
from tests.postgres.watching import come_to, connections
from tests.store.sqlite.files import raises

CALLERS: Final = 100


@pytest.fixture
def url(pg_emptied: str) -> str:
    with opened(pg_emptied) as client:
        client.enqueue("scan")
    return pg_emptied


def test_connections_are_made_when_they_are_needed(pg_server: Server, url: str) -> None:
    assert come_to(pg_server, url, 0)
    with opened(url) as client:
        counts = [connections(pg_server, url)]
        client.find()
        client.verify()
        counts.append(connections(pg_server, url))
        client.enqueue("scan", job_id="job")
        client.cancel("job")
        counts.append(connections(pg_server, url))
        assert list(client.tail(timeout_s=0.1)) == []
        listening = come_to(pg_server, url, 3)

    assert counts == [1, 1, 2]
    assert listening
    assert come_to(pg_server, url, 0)


@pytest.mark.parametrize("most", [2, 3, 5])
def test_many_callers_share_few_connections(pg_server: Server, url: str, most: int) -> None:
    async def call(client: Client, number: int) -> None:
        await client.enqueue("scan", job_id=f"job-{number}")
        await client.get(f"job-{number}")
        await client.cancel(f"job-{number}")

    async def scene() -> int:
        async with opened(url, connections=most) as client:
            end = await client.end()
            waiting = asyncio.ensure_future(anext(client.tail(after=end)))
            await asyncio.gather(*[call(client, number) for number in range(CALLERS)])
            await waiting
            return await asyncio.to_thread(connections, pg_server, url)

    assert 2 <= asyncio.run(scene()) <= most
    assert come_to(pg_server, url, 0)


def test_threads_of_a_blocking_client_share_few_connections(pg_server: Server, url: str) -> None:
    with opened(url) as client:
        threads = [threading.Thread(target=lambda: [client.enqueue("scan") for _ in range(5)]) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert connections(pg_server, url) <= 3
        assert client.count()[()] == 101


def test_opening_that_fails_leaves_no_connection_open(pg_server: Server, pg_url: str) -> None:
    with raises("store_missing"), opened(pg_url, create=False):
        pass

    assert come_to(pg_server, pg_url, 0)


def test_opening_that_is_given_up_leaves_no_connection_open(pg_server: Server, url: str) -> None:
    async def scene() -> None:
        client = opened(url)
        for delay_s in (0.0, 0.005, 0.01, 0.02):
            opening = asyncio.ensure_future(client.__aenter__())
            await asyncio.wait([opening], timeout=delay_s)
            if opening.cancel():
                with pytest.raises(asyncio.CancelledError):
                    await opening
            else:
                await client.__aexit__(None, None, None)

    asyncio.run(scene())

    assert come_to(pg_server, url, 0)


def test_threads_of_a_client_end_with_it(url: str) -> None:
    before = set(threading.enumerate())
    for _ in range(3):
        with opened(url) as client:
            client.enqueue("scan")
            list(client.tail(timeout_s=0.01))

    assert set(threading.enumerate()) <= before
