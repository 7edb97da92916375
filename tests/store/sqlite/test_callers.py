"""One client for many: event loops, threads, and both at once."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from detent import Client, SyncClient
from tests.store.sqlite.files import every_job, is_sound, opened, raises, run_to_success

THREADS: Final = 8
EACH: Final = 25


async def live(client: Client, worker: str, count: int) -> list[str]:
    """Enqueue, claim and complete so many jobs; those that were completed."""
    done: list[str] = []
    for _ in range(count):
        await client.enqueue("scan")
        claimed = await client.claim(worker=worker, start=True)
        done += [(await client.complete(job.id, worker=worker, attempt=job.attempt)).id for job in claimed]
    return done


def live_blocking(client: SyncClient, worker: str, count: int) -> list[str]:
    done: list[str] = []
    for _ in range(count):
        client.enqueue("scan")
        claimed = client.claim(worker=worker, start=True)
        done += [client.complete(job.id, worker=worker, attempt=job.attempt).id for job in claimed]
    return done


def test_client_serves_event_loops_in_two_threads(path: Path) -> None:
    with opened(path, synchronous="normal") as blocking:

        def in_a_loop(worker: str) -> list[str]:
            return asyncio.run(live(blocking.client, worker, EACH))

        with ThreadPoolExecutor(2) as pool:
            done = [job_id for ids in pool.map(in_a_loop, ("w1", "w2")) for job_id in ids]

        assert len(done) == len(set(done)) == 2 * EACH
        assert is_sound(blocking)


def test_client_serves_one_event_loop_after_the_other(path: Path) -> None:
    with opened(path) as blocking:
        done = [asyncio.run(live(blocking.client, f"w{number}", 2)) for number in range(5)]

        assert [len(ids) for ids in done] == [2] * 5


def test_threads_share_a_blocking_client(path: Path) -> None:
    with opened(path, synchronous="normal") as client:
        with ThreadPoolExecutor(THREADS) as pool:
            lives = [pool.submit(live_blocking, client, f"w{number}", EACH) for number in range(THREADS)]
        done = [job_id for each in lives for job_id in each.result()]

        assert len(done) == len(set(done)) == THREADS * EACH
        assert {job.state for job in every_job(client)} == {"succeeded"}
        assert is_sound(client)


def test_threads_read_through_one_blocking_client_at_once(path: Path) -> None:
    with opened(path, synchronous="normal") as client:
        run_to_success(client, 300)

        def read(number: int) -> set[int]:
            return {len(client.find(limit=300).items) for _ in range(EACH)}

        with ThreadPoolExecutor(THREADS) as pool:
            seen = list(pool.map(read, range(THREADS)))

        assert seen == [{300}] * THREADS


def test_threads_and_an_event_loop_share_a_client(path: Path) -> None:
    with opened(path, synchronous="normal") as client:
        with ThreadPoolExecutor(2) as pool:
            blocking = pool.submit(live_blocking, client, "thread", EACH)
            looped = pool.submit(lambda: asyncio.run(live(client.client, "loop", EACH)))
        done = blocking.result() + looped.result()

        assert len(done) == len(set(done)) == 2 * EACH
        assert is_sound(client)


def test_caller_whose_event_loop_is_gone_leaves_the_others_served(path: Path) -> None:
    """Its answer has nowhere to go; what it asked is done."""
    with opened(path) as client:
        loop = asyncio.new_event_loop()
        with client.transaction():  # so that the request waits in line
            task = loop.create_task(client.client.enqueue("scan", job_id="orphan"))
            loop.run_until_complete(asyncio.sleep(0.05))
            task.cancel()
            loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
            loop.close()
        client.enqueue("scan", job_id="later")

        assert {job.id for job in every_job(client)} == {"orphan", "later"}


def test_blocking_verb_on_a_running_event_loop_is_refused(path: Path) -> None:
    with opened(path) as client:

        async def careless() -> None:
            client.enqueue("scan")

        with raises("blocking_call"):
            asyncio.run(careless())
        assert list(every_job(client)) == []


def test_blocking_client_cannot_be_opened_on_a_running_event_loop(path: Path) -> None:
    async def careless() -> None:
        with opened(path):
            pass

    with raises("blocking_call"):
        asyncio.run(careless())


def test_blocking_verb_beside_an_event_loop_of_another_thread_is_fine(path: Path) -> None:
    async def hand_over() -> str:
        async with opened(path) as client:
            return (await asyncio.to_thread(SyncClient(client).enqueue, "scan")).state

    assert asyncio.run(hand_over()) == "queued"


def test_no_thread_is_left_behind(path: Path) -> None:
    before = set(threading.enumerate())
    for _ in range(3):
        with opened(path) as client:
            client.enqueue("scan")

    assert set(threading.enumerate()) <= before
