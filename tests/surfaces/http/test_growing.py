"""Waiting for one tenant's own: what others do is looked at and passed over."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from detent.store import Store
from detent.surfaces.http.growing import end_beyond, news_beyond
from tests.surfaces.http.stores import CountingStore, client_of, on_a_loop

Waiting = Callable[[Store, str, str, float], Coroutine[Any, Any, str]]
BOTH = pytest.mark.parametrize("beyond", [end_beyond, news_beyond])


async def looked(store: CountingStore, times: int) -> None:
    while store.calls["events"] < times:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0)  # what was found is handed over


@BOTH
@on_a_loop
async def test_only_the_tenants_own_job_ends_the_wait(beyond: Waiting) -> None:
    store = CountingStore()
    ours, theirs = await client_of(store, "ours"), await client_of(store, "theirs")
    waiting = asyncio.ensure_future(beyond(store, "ours", await ours.end(), 60))

    for number in range(1, 4):
        await looked(store, number)
        assert not waiting.done()
        await theirs.enqueue("k")
    await ours.enqueue("k")

    assert await waiting == await ours.end()


@BOTH
@on_a_loop
async def test_when_the_time_is_over_the_place_has_nothing_of_the_tenants_before_it(beyond: Waiting) -> None:
    store = CountingStore()
    ours, theirs = await client_of(store, "ours"), await client_of(store, "theirs")
    before = await ours.end()
    await theirs.enqueue("k")

    reached = await beyond(store, "ours", before, 0)
    await ours.enqueue("k")

    assert len((await ours.events(cursor=reached)).items) == 1


@on_a_loop
async def test_what_makes_no_work_is_no_news() -> None:
    store = CountingStore()
    ours = await client_of(store, "ours")
    await ours.enqueue("k")
    mark = await ours.end()
    await ours.claim(worker="w", start=True)

    waiting = asyncio.ensure_future(news_beyond(store, "ours", mark, 60))
    await looked(store, 1)
    assert not waiting.done()
    await ours.enqueue("k")
    assert await waiting == await ours.end()


@on_a_loop
async def test_mark_of_another_kind_may_mean_news() -> None:
    store = CountingStore()
    ours = await client_of(store, "ours")

    assert await news_beyond(store, "ours", "1763-4-5", 60) == await ours.end()
