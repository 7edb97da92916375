"""Whatever commits when, and whatever becomes of streams and services: no reader misses an event or gets one twice."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import psycopg
import pytest

from detent import connect
from detent.client import Client
from detent.surfaces.http.live import Hub, LiveSettings
from detent.surfaces.http.live.log import Log, Stretch
from detent.surfaces.http.live.ring import Ring
from tests.postgres.clients import opened
from tests.postgres.following import Writer
from tests.surfaces.http.followers import ROOMY, TIGHT, Follower, Service, all_has_come, check
from tests.surfaces.http.stores import on_a_loop
from tests.surfaces.http.test_live_readers import QUICK, handed

FOLLOWERS: Final = 50
WRITERS: Final = 4
JOBS: Final = 20  # of each writer
QUEUES: Final = tuple(f"w{number}" for number in range(WRITERS))
WITHIN_S: Final = 30.0
each_way = pytest.mark.parametrize(
    ("settings", "is_restarted"),
    [(TIGHT, False), (TIGHT, True), (ROOMY, True)],
    ids=["one service", "one service after the other", "with room to meet the next"],
)


async def followed(
    client: Client, write: Callable[[], Any], settings: LiveSettings, *, is_restarted: bool
) -> Counter[str]:
    """Write while they follow, and look at what each has seen. Returns what ended their streams."""
    start = await client.end()
    service = Service(client, settings)
    followers = [Follower(service, f"f{number}", QUEUES, start) for number in range(FOLLOWERS)]
    tasks = [asyncio.create_task(each.follow()) for each in followers]
    restarting = asyncio.create_task(service.restart_for_ever() if is_restarted else asyncio.sleep(3_600))
    await write()
    await all_has_come(client, followers, start, WITHIN_S)
    done = [task for task in (*tasks, restarting) if task.done()]
    for task in (*tasks, restarting):
        task.cancel()
    await asyncio.wait([*tasks, restarting])
    await service.hub.close()
    assert not done, [task.exception() for task in done]
    for follower in followers:
        await check(client, follower, start)
    assert (service.restarts > 0) == is_restarted
    return Counter(reason for follower in followers for reason in follower.ends)


@pytest.mark.requirement("STD-13")
@each_way
@on_a_loop
async def test_no_reader_misses_or_doubles_an_event_on_sqlite(
    tmp_path: Path, settings: LiveSettings, is_restarted: bool
) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"
    async with connect(url) as client, connect(url) as other, connect(url, tenant="other") as foreign:

        async def live(queue: str, writer: Client) -> None:
            random = Random(queue)
            for _ in range(JOBS):
                await writer.enqueue("scan", queue=queue)
                await foreign.enqueue("scan", queue=queue)
                (job,) = await writer.claim(worker="w", queues=[queue], start=True)
                await asyncio.sleep(random.random() * 0.05)
                await writer.complete(job.id, worker="w", attempt=job.attempt)

        async def write() -> None:
            await asyncio.gather(*[live(queue, Random(queue).choice((client, other))) for queue in QUEUES])

        ends = await followed(client, write, settings, is_restarted=is_restarted)

    assert ends["slow"] > 0
    assert (ends["closing"] > 0) == is_restarted


def writing(url: str) -> Callable[[], Any]:
    """Programs that commit late, some of them in vain, on threads of their own."""

    def write() -> None:
        barrier = threading.Barrier(WRITERS, timeout=30)
        with opened(url) as client:
            writers = [Writer(client, url, queue, JOBS, barrier) for queue in QUEUES]
            for writer in writers:
                writer.start()
            for writer in writers:
                writer.join()
        assert [writer.failure for writer in writers] == [None] * WRITERS

    async def on_a_thread() -> None:
        await asyncio.to_thread(write)

    return on_a_thread


@pytest.mark.requirement("STD-13")
@each_way
@on_a_loop
async def test_no_reader_misses_or_doubles_an_event_on_postgresql_whatever_commits_late(
    pg_emptied: str, settings: LiveSettings, is_restarted: bool
) -> None:
    async with connect(pg_emptied) as client:
        ends = await followed(client, writing(pg_emptied), settings, is_restarted=is_restarted)

    # After a restart, readers are on their own as long as transactions are under way: nobody can be cut.
    assert ends["closing" if is_restarted else "slow"] > 0


async def seen_after_a_late_commit(url: str) -> str:
    """Of one whose place names a transaction, which has ended when the tail begins, at a place that looks the same."""
    async with connect(url) as client:
        start = await client.end()
        async with await psycopg.AsyncConnection.connect(url) as tx:
            await client.enqueue("scan", job_id="late", tx=tx)
            await client.enqueue("scan", job_id="early")
            before = Hub(client.store, "default", settings=QUICK)
            async with before.reader(after=start) as reader:
                (early,) = await handed(reader, 1)
            await before.close()
            await tx.commit()
        hub = Hub(client.store, "default", settings=QUICK)
        seen: list[str] = []
        async with hub.reader(after=early.cursor) as reader:
            while (item := await reader.next(0.3)) is not None:
                seen.append(item.event.job_id)  # type: ignore[union-attr]
        await hub.close()
        return " ".join(seen)


@on_a_loop
async def test_reader_whose_place_only_looks_like_that_of_the_tail_does_not_join_it(pg_emptied: str) -> None:
    assert await seen_after_a_late_commit(pg_emptied) == "late"


@on_a_loop
async def test_joining_by_guessing_would_be_noticed(pg_emptied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = Ring.position_of
    monkeypatch.setattr(Ring, "position_of", lambda ring, cursor: known(ring, cursor.partition("~")[0]))

    assert await seen_after_a_late_commit(pg_emptied) == ""


async def reads_until_it_has_joined(url: str, monkeypatch: pytest.MonkeyPatch) -> int | None:
    """How many events a reader on its own reads by itself, while a transaction that stays open makes its cursors others
    than those of the tail. None: it never joined.
    """
    looked: list[str] = []
    read = Log.read_in_turn

    async def counted(log: Log, place: str) -> Stretch:
        looked.append(place)
        return await read(log, place)

    monkeypatch.setattr(Log, "read_in_turn", counted)
    async with connect(url) as client, await psycopg.AsyncConnection.connect(url) as tx:
        await client.enqueue("scan")
        start = await client.end()
        await client.enqueue("scan", tx=tx)
        await client.enqueue("scan")
        hub = Hub(client.store, "default", settings=QUICK)
        async with hub.reader() as tail, hub.reader(after=start) as late:
            await handed(late, 1)
            for number in range(20):
                looks = len(looked)
                await client.enqueue("scan", job_id=f"j{number}")
                heard, read_ = await asyncio.gather(handed(tail, 1), handed(late, 1))
                assert heard[0].event.id == read_[0].event.id
                if len(looked) == looks:
                    return number
        await hub.close()
    return None


@on_a_loop
async def test_reader_joins_the_tail_when_both_have_seen_the_same_though_their_cursors_differ(
    pg_emptied: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await reads_until_it_has_joined(pg_emptied, monkeypatch) is not None


@on_a_loop
async def test_cursors_alone_would_not_let_it_join(pg_emptied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("detent.surfaces.http.live.own.arranged", lambda ring, reads: None)

    assert await reads_until_it_has_joined(pg_emptied, monkeypatch) is None
