"""How following ends: readers that are too slow, stores that fail, services that stop. None of them leaves a gap."""

import asyncio

import pytest

from detent.errors import DetentError, ServiceError, StoreError
from detent.store import EventQuery
from detent.surfaces.http.live import Ended, Filters, Hub, Hubs, Item, LiveSettings, Reader
from detent.surfaces.http.live.ring import Ring
from detent.surfaces.http.live.specs import Specs
from tests.surfaces.http.stores import CountingStore, client_of, on_a_loop
from tests.surfaces.http.test_live_readers import QUICK, SOON_S, handed, live, named


async def ended(reader: Reader) -> Ended:
    while not isinstance(got := await reader.batch(SOON_S), Ended):
        assert got
    return got


@pytest.mark.parametrize(
    "bounds", [{"buffer_max": 5}, {"buffer_max": 1_000, "buffer_bytes_max": 3_000}], ids=["events", "bytes"]
)
@on_a_loop
async def test_slow_reader_is_cut_and_resumes_without_a_gap_or_a_double(bounds: dict[str, int]) -> None:
    store = CountingStore()
    client, hub = await client_of(store), Hub(store, "default", settings=LiveSettings(pause_s=0, wait_s=0.05, **bounds))
    async with hub.reader() as slow, hub.reader() as quick:
        await slow.batch(0)
        await live(client, "a")
        (first,) = await handed(slow, 1)
        seen = await handed(quick, 4)
        for name in "bcdef":
            await live(client, name)
            seen += await handed(quick, 4)
        end = await slow.batch(SOON_S)

        assert end == Ended("slow", first.cursor)
        assert quick.ended is None
        async with hub.reader(after=first.cursor) as resumed:
            rest = await handed(resumed, 23)

    assert named([first, *rest]) == named(seen)
    await hub.close()


@on_a_loop
async def test_reader_that_does_not_begin_until_the_ring_has_moved_on_is_slow() -> None:
    store = CountingStore()
    client = await client_of(store)
    hub = Hub(store, "default", settings=LiveSettings(pause_s=0, wait_s=0.05, ring_max=3))
    async with hub.reader() as idle, hub.reader() as quick:
        start = idle.cursor
        await live(client, "a")
        await handed(quick, 4)

        assert await idle.batch(0) == Ended("slow", start)
    await hub.close()


@on_a_loop
async def test_store_that_fails_for_a_while_is_not_noticed_by_readers() -> None:
    store = CountingStore()
    troubles: list[DetentError] = []
    client = await client_of(store)
    hub = Hub(store, "default", settings=QUICK, troubled=troubles.append)
    start = await client.end()
    await live(client, "a")
    async with hub.reader() as listening, hub.reader(after=start) as late:
        await listening.batch(0)
        store.failures = 4
        await live(client, "b")
        heard, read = await asyncio.gather(handed(listening, 4), handed(late, 8))

    assert named(heard) == "b.1 b.2 b.3 b.4"
    assert named(read) == "a.1 a.2 a.3 a.4 b.1 b.2 b.3 b.4"
    assert {type(trouble) for trouble in troubles} == {StoreError}
    await hub.close()


@on_a_loop
async def test_store_that_fails_for_too_long_ends_readers_and_the_next_one_begins_anew() -> None:
    store = CountingStore()
    client = await client_of(store)
    hub = Hub(store, "default", settings=LiveSettings(pause_s=0, wait_s=0.05, trouble_s_max=0.1))
    async with hub.reader() as reader:
        store.failures = 1_000_000
        end = await ended(reader)
        store.failures = 0
        await live(client, "a")
        async with hub.reader(after=end.cursor) as resumed:
            items = await handed(resumed, 4)

    assert end.reason == "trouble"
    assert named(items) == "a.1 a.2 a.3 a.4"
    await hub.close()


@on_a_loop
async def test_closing_ends_every_reader_cleanly_and_lets_in_no_other() -> None:
    store = CountingStore()
    client, hubs = await client_of(store), Hubs(store, settings=LiveSettings())
    await live(client, "a")
    first = (await client.events(limit=1)).items[0]
    async with hubs.reader("default") as listening, hubs.reader("default", after=first.cursor) as late:
        (one,) = await handed(late, 1)
        waiting = asyncio.create_task(listening.next())
        await asyncio.sleep(0)
        await hubs.close()

        assert await waiting == Ended("closing", listening.cursor)
        assert await late.next() == Ended("closing", one.cursor)
    for tenant in ("default", "other"):
        with pytest.raises(ServiceError) as caught:
            async with hubs.reader(tenant):
                raise AssertionError("it was let in")
        assert caught.value.code == "closing"


@on_a_loop
async def test_iterating_ends_with_the_reader() -> None:
    store = CountingStore()
    client, hub = await client_of(store), Hub(store, "default", settings=QUICK)
    seen: list[Item] = []
    async with hub.reader() as reader:
        await live(client, "a")
        async for item in reader:
            seen.append(item)
            if len(seen) == 4:
                await hub.close()

        assert reader.ended == Ended("closing", seen[-1].cursor)
    assert named(seen) == "a.1 a.2 a.3 a.4"


@on_a_loop
async def test_tail_runs_from_the_first_reader_until_after_the_last() -> None:
    store = CountingStore()
    hubs = Hubs(store, settings=LiveSettings(linger_s=0, wait_s=0.05))
    hub = hubs.of("default")
    is_running = [hub.is_running]
    async with hub.reader():
        async with hub.reader():
            is_running.append(hub.is_running)
        is_running.append(hub.is_running)
    while hub.is_running:
        await asyncio.sleep(0)
    looked = store.calls["events"]
    await asyncio.sleep(0.1)

    assert is_running == [False, True, True]
    assert store.calls["events"] == looked
    hubs.of("another")
    assert len(hubs) == 1
    await hubs.close()


@on_a_loop
async def test_tail_that_lingers_is_taken_up_by_the_next_reader() -> None:
    store = CountingStore()
    client, hub = await client_of(store), Hub(store, "default", settings=QUICK)
    async with hub.reader() as first:
        cursor = first.cursor
    await live(client, "a")
    async with hub.reader(Filters(verb="complete"), after=cursor) as second:
        (item,) = await handed(second, 1)

    assert named([item]) == "a.4"
    await hub.close()


@on_a_loop
async def test_what_a_hub_remembers_is_bounded() -> None:
    store = CountingStore()
    client = await client_of(store)
    specs = Specs(store, "default", 3)
    for name in "abcdef":
        await live(client, name)
    entries = (await store.events(EventQuery(), 100)).items
    found = await specs.of([entry.event for entry in entries])
    event, ring = entries[0].event, Ring("0", items_max=5, bytes_max=1_000)
    for number in range(100):
        ring.add([Item(str(number), event, found[0], b"." * 10)], str(number))
        ring.add([], f"{number}.5")

    assert [each.queue for each in found] == [f"of-{name}" for name in "abcdef" for _ in range(4)]
    assert len(specs) == 3
    assert len(ring) == 5
    assert [ring.position_of(place) for place in ("94", "94.5", "99.5", "93.5")] == [95, 95, 100, None]
    ring.add([Item("big", event, found[0], b"." * 1_000)], "big")
    assert (len(ring), ring.position_of("99.5"), ring.position_of("big")) == (1, 100, 101)
