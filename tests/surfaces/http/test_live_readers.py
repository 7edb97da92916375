"""Readers of a tenant's log: each sees what it asked for, from where it wanted, once, and costs next to nothing."""

import asyncio
from typing import Any, Final

import pytest

from detent.client import Client
from detent.errors import InvalidArgument
from detent.store import Entry
from detent.surfaces.http.live import Ended, Filters, Hub, Hubs, Item, LiveSettings, Reader, plain
from tests.surfaces.http.stores import CountingStore, client_of, on_a_loop

SOON_S: Final = 10.0  # it comes, on whatever machine
QUICK: Final = LiveSettings(pause_s=0, wait_s=0.05)


async def handed(reader: Reader, count: int) -> list[Item]:
    items: list[Item] = []
    while len(items) < count:
        batch = await reader.batch(SOON_S, items_max=count - len(items))
        assert batch, f"only {len(items)} of {count} have come"
        assert not isinstance(batch, Ended), batch
        items += batch
    return items


def named(items: list[Item]) -> str:
    return " ".join(f"{item.event.job_id}.{item.event.rev}" for item in items)


async def live(client: Client, job_id: str, **how: Any) -> None:
    """A job with four events."""
    await client.enqueue("scan", job_id=job_id, queue=f"of-{job_id}", **how)
    (job,) = await client.claim(worker="w", queues=[f"of-{job_id}"], start=True)
    await client.complete(job.id, worker="w", attempt=1)


@on_a_loop
async def test_reader_without_a_cursor_begins_now() -> None:
    store = CountingStore()
    client, hub = await client_of(store), Hub(store, "default", settings=QUICK)
    await client.enqueue("scan", job_id="past")
    async with hub.reader() as reader:
        await client.enqueue("scan", job_id="present")
        (item,) = await handed(reader, 1)

    assert (item.event.job_id, item.queue, item.kind) == ("present", "default", "scan")
    await hub.close()


@on_a_loop
async def test_reader_with_a_cursor_begins_after_it() -> None:
    store = CountingStore()
    client, hub = await client_of(store), Hub(store, "default", settings=QUICK)
    await live(client, "a")
    first = (await client.events(limit=1)).items[0]
    async with hub.reader(after=first.cursor) as reader:
        past = await handed(reader, 3)
        await live(client, "b")
        present = await handed(reader, 4)

    assert (named(past), named(present)) == ("a.2 a.3 a.4", "b.1 b.2 b.3 b.4")
    await hub.close()


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(job_id="a"), "a.1 a.2 a.3 a.4"),
        (Filters(queue="of-b"), "b.1 b.2 b.3 b.4"),
        (Filters(kind="scan", verb="complete"), "a.4 b.4"),
        (Filters(type="job_claimed"), "a.2 b.2"),
        (Filters(correlation_id="shared"), "a.1 a.2 a.3 a.4"),
        (Filters(correlation_id="shared", queue="of-b"), ""),
        (Filters(kind="other"), ""),
    ],
)
@pytest.mark.parametrize("is_late", [False, True], ids=["listening", "from the store"])
@on_a_loop
async def test_reader_sees_what_matches_all_its_filters(filters: Filters, expected: str, is_late: bool) -> None:
    store = CountingStore()
    client, hub = await client_of(store), Hub(store, "default", settings=QUICK)
    start = await client.end()
    async with hub.reader(filters, after=None if not is_late else start) as reader:
        await reader.batch(0)
        await live(client, "a", correlation_id="shared")
        await live(client, "b")
        seen = await handed(reader, len(expected.split()))
        await client.enqueue("scan", job_id="end")
        rest = await reader.batch(0.05)

    assert named(seen) == expected
    assert rest == []
    await hub.close()


@on_a_loop
async def test_reader_of_another_tenant_sees_nothing() -> None:
    store = CountingStore()
    own, hubs = await client_of(store), Hubs(store, settings=QUICK)
    async with hubs.reader("default") as reader, hubs.reader("other") as other:
        await own.enqueue("scan")
        await handed(reader, 1)

        assert await other.next(0.05) is None
    await hubs.close()


@pytest.mark.parametrize("cursor", ["x", "-1", "", "1\n2", "9" * 30])
@on_a_loop
async def test_what_is_no_cursor_is_refused_before_anything_is_read(cursor: str) -> None:
    hub = Hub(CountingStore(), "default", settings=QUICK)
    with pytest.raises(InvalidArgument) as caught:
        async with hub.reader(after=cursor):
            raise AssertionError("it was let in")

    assert caught.value.code == "bad_cursor"
    assert hub.readers == 0
    await hub.close()


@on_a_loop
async def test_many_readers_cost_the_store_as_much_as_one() -> None:
    written: list[Entry] = []

    def encode(entry: Entry, queue: str | None, kind: str | None) -> bytes:
        written.append(entry)
        return plain(entry, queue, kind)

    store = CountingStore()
    client, hub = await client_of(store), Hub(store, "default", settings=QUICK, encode=encode)
    readers = [hub.reader() for _ in range(100)]
    opened = [await reader.__aenter__() for reader in readers]
    for reader in opened:
        await reader.batch(0)
    await client.enqueue("scan")
    items = [(await handed(reader, 1))[0] for reader in opened]

    assert store.calls["events"] <= 10
    assert len(written) == 1
    assert len({id(item.data) for item in items}) == 1
    for each in readers:
        await each.__aexit__(None, None, None)
    await hub.close()


@on_a_loop
async def test_reader_that_resumes_within_the_ring_does_not_read_the_store() -> None:
    store = CountingStore()
    client, hub = await client_of(store), Hub(store, "default", settings=QUICK)
    async with hub.reader() as first:
        await live(client, "a")
        items = await handed(first, 4)
        looked = store.calls["events"]
        async with hub.reader(after=items[1].cursor) as second:
            rest = await second.batch(0)

    assert not isinstance(rest, Ended)
    assert named(rest) == "a.3 a.4"
    assert store.calls["events"] == looked
    await hub.close()


@on_a_loop
async def test_reader_from_before_the_ring_joins_it_and_reads_the_store_no_more() -> None:
    store = CountingStore()
    client = await client_of(store)
    hub = Hub(store, "default", settings=LiveSettings(pause_s=0, wait_s=SOON_S, ring_max=4, page_max=3))
    start = await client.end()
    async with hub.reader() as first:
        for name in "abcd":
            await live(client, name)
            await handed(first, 4)
        async with hub.reader(after=start) as late:
            past = await handed(late, 16)
            await late.batch(0)
            looked = store.calls["events"]
            await client.enqueue("scan", job_id="e")
            present = await handed(late, 1)

    assert named(past) == " ".join(f"{name}.{rev}" for name in "abcd" for rev in (1, 2, 3, 4))
    assert named(present) == "e.1"
    assert store.calls["events"] <= looked + 2  # those of the tail
    await hub.close()


@on_a_loop
async def test_cursor_of_a_reader_goes_along_with_what_it_did_not_ask_for() -> None:
    store = CountingStore()
    client, hub = await client_of(store), Hub(store, "default", settings=QUICK)
    async with hub.reader(Filters(queue="nothing")) as reader, hub.reader() as other:
        await live(client, "a")
        items = await handed(other, 4)

        assert await reader.next(0.01) is None
        assert reader.cursor == items[-1].cursor
    await hub.close()


@on_a_loop
async def test_queue_of_a_job_from_before_is_looked_up_once() -> None:
    store = CountingStore()
    client, hub = await client_of(store), Hub(store, "default", settings=QUICK)
    await client.enqueue("scan", job_id="old", queue="q")
    async with hub.reader(Filters(queue="q", kind="scan")) as reader:
        await client.claim(worker="w", queues=["q"])
        await handed(reader, 1)
        await client.start("old", worker="w", attempt=1)
        (item,) = await handed(reader, 1)

    assert (item.queue, item.kind) == ("q", "scan")
    assert store.calls["get"] == 1
    await hub.close()


@on_a_loop
async def test_event_is_written_as_a_server_sent_event() -> None:
    store = CountingStore()
    client, hub = await client_of(store), Hub(store, "default", settings=QUICK)
    async with hub.reader() as reader:
        await client.enqueue("scan", job_id="a\u00e4 b")
        (item,) = await handed(reader, 1)

    lines = item.data.decode().split("\n")
    assert lines[0] == f"id: {item.cursor}"
    assert lines[1].startswith('data: {"id":"default:')
    assert lines[2:] == ["", ""]
    await hub.close()


@on_a_loop
async def test_reader_that_knows_more_than_the_tail_is_not_told_again() -> None:
    """As when it comes from another service, and the tail of this one has not looked yet."""
    store = CountingStore()
    client = await client_of(store)
    hub = Hub(store, "default", settings=LiveSettings(pause_s=0.3, wait_s=SOON_S))
    async with hub.reader() as first:
        while not store.calls["events"]:
            await asyncio.sleep(0)
        await client.enqueue("scan", job_id="known")
        known = (await client.events()).items[-1]
        async with hub.reader(after=known.cursor) as second:
            before = await second.batch(0.1)
            await handed(first, 1)
            await client.enqueue("scan", job_id="new")
            (item,) = await handed(second, 1)

    assert (before, item.event.job_id) == ([], "new")
    await hub.close()
