"""Who waits for work is woken by what makes some, whoever wrote it, and left alone by what does not."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from time import monotonic
from typing import Any, Final

import pytest

from detent import Client, connect
from detent.client.sync import run

LONG_S: Final = 10.0
SOON_S: Final = 2.0
A_WHILE_S: Final = 0.3
KEYED: Final = "a-customer"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"
    emptied: str = request.getfixturevalue("pg_emptied")
    return emptied


def on_a_loop(scenario: Callable[[str], Coroutine[Any, Any, None]]) -> Callable[[str], None]:
    @wraps(scenario)
    def test(url: str) -> None:
        asyncio.run(scenario(url))

    return test


@asynccontextmanager
async def two(url: str) -> AsyncIterator[tuple[Client, Client, str]]:
    """Clients of one store, the first of which hears; and the mark of what it has heard."""
    async with connect(url) as one, connect(url) as other:
        await one.enqueue("first", queue="elsewhere")
        seen = await one.store.news(None, 0)
        while (mark := await one.store.news(seen, A_WHILE_S)) != seen:  # it has just begun to listen
            seen = mark
        yield one, other, seen


async def live(client: Client) -> None:
    (job,) = await client.claim(worker="w", queues=["default"])
    await client.start(job.id, worker="w", attempt=1)
    await client.complete(job.id, worker="w", attempt=1)


@on_a_loop
async def test_job_that_another_client_enqueues_is_news(url: str) -> None:
    async with two(url) as (one, other, seen):
        began_s = monotonic()
        news, _ = await asyncio.gather(one.store.news(seen, LONG_S), other.enqueue("scan"))
        took_s = monotonic() - began_s

    assert news != seen
    assert took_s < SOON_S


@on_a_loop
async def test_job_that_the_client_itself_enqueues_is_news(url: str) -> None:
    async with two(url) as (one, _, seen):
        news, _ = await asyncio.gather(one.store.news(seen, LONG_S), one.enqueue("scan"))

    assert news != seen


@on_a_loop
async def test_life_of_a_job_that_the_client_itself_runs_is_no_news(url: str) -> None:
    async with two(url) as (one, _, seen):
        await one.enqueue("scan")
        seen = await one.store.news(seen, LONG_S)
        await live(one)

        assert await one.store.news(seen, A_WHILE_S) == seen


@on_a_loop
async def test_end_that_makes_room_for_a_limit_key_is_news(url: str) -> None:
    async with two(url) as (one, _, seen):
        await one.enqueue("scan", limit_key=KEYED)
        seen = await one.store.news(seen, LONG_S)
        news, _ = await asyncio.gather(one.store.news(seen, LONG_S), live(one))

    assert news != seen


@on_a_loop
async def test_news_that_came_before_anybody_waited_is_not_lost(url: str) -> None:
    async with two(url) as (one, other, seen):
        await other.enqueue("scan")
        news = await one.store.news(seen, LONG_S)

    assert news != seen


@on_a_loop
async def test_several_who_wait_are_woken_together(url: str) -> None:
    async with two(url) as (one, other, seen):
        *news, _ = await asyncio.gather(*[one.store.news(seen, LONG_S) for _ in range(3)], other.enqueue("scan"))

    assert seen not in news


@on_a_loop
async def test_one_who_gave_up_waiting_takes_nothing_from_others(url: str) -> None:
    async with two(url) as (one, other, seen):
        first = asyncio.ensure_future(one.store.news(seen, LONG_S))
        second = asyncio.ensure_future(one.store.news(seen, LONG_S))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await other.enqueue("scan")

        assert await second != seen


def test_blocking_caller_hears_of_it_too(url: str) -> None:
    with connect(url) as one, connect(url) as other:
        one.enqueue("first")
        seen = run(one.client.store.news(None, 0))
        other.enqueue("scan")

        assert run(one.client.store.news(seen, LONG_S)) != seen
