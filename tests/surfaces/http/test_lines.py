"""Claims that wait: first come first served, as cheap as a few however many they are, and nothing taken in vain."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

import pytest

from detent.client import Client, Job
from detent.errors import InvalidArgument, ServiceError, StoreError
from detent.surfaces.http.line import Lines
from detent.testing import VirtualClock
from tests.surfaces.http.stores import CountingStore, client_of, on_a_loop

LONG_S: Final = 50.0
KEY: Final = ("default", "q")


class Asking:
    """A queue's claimers, and what they have asked and got, in that order."""

    def __init__(self, client: Client, queue: str = "q") -> None:
        self.asked: list[int] = []
        self.got: list[tuple[int, str]] = []
        self._client, self._queue = client, queue

    def by(self, number: int) -> Callable[[], Coroutine[Any, Any, Sequence[Job]]]:
        async def claim() -> Sequence[Job]:
            self.asked.append(number)
            jobs = await self._client.claim(worker=f"w{number}", queues=[self._queue])
            self.got += [(number, job.id) for job in jobs]
            return jobs

        return claim


async def standing(lines: Lines, asking: Asking, count: int, wait_s: float = LONG_S) -> list[asyncio.Task[list[Job]]]:
    """So many in one line, which has found that there is nothing."""
    tasks = [asyncio.create_task(lines.claim(KEY, asking.by(number), wait_s)) for number in range(count)]
    while lines.waiters < count or not asking.asked:
        await asyncio.sleep(0)
    return tasks


@on_a_loop
async def test_claim_that_finds_something_does_not_wait() -> None:
    store = CountingStore()
    client, lines = await client_of(store), Lines(store)
    await client.enqueue("scan", queue="q", job_id="a")

    (job,) = await lines.claim(KEY, Asking(client).by(0), LONG_S)

    assert job.id == "a"
    await lines.close()


@on_a_loop
async def test_claim_without_a_wait_asks_once_and_stands_in_no_line() -> None:
    store = CountingStore()
    client, lines = await client_of(store), Lines(store)
    asking = Asking(client)

    assert await lines.claim(KEY, asking.by(0), 0) == []
    assert asking.asked == [0]
    assert store.calls["news"] == 0


@on_a_loop
async def test_claim_ends_with_nothing_when_its_time_is_over() -> None:
    store = CountingStore()
    client, lines = await client_of(store), Lines(store)

    assert await lines.claim(KEY, Asking(client).by(0), 0.05) == []
    assert lines.waiters == 0
    await lines.close()


@on_a_loop
async def test_of_many_waiters_one_gets_the_only_job() -> None:
    store = CountingStore()
    client, lines = await client_of(store), Lines(store, poll_s=LONG_S)
    asking = Asking(client)
    tasks = await standing(lines, asking, 64)
    await client.enqueue("scan", queue="q", job_id="only")
    (job,) = await tasks[0]
    asked = len(asking.asked)
    await lines.close()
    rest = await asyncio.gather(*tasks[1:])

    assert job.id == "only"
    assert rest == [[]] * 63
    assert asked <= 8, "all 64 have asked for it"


@on_a_loop
async def test_many_waiters_and_as_many_jobs_find_each_other_in_order() -> None:
    store = CountingStore()
    client, lines = await client_of(store), Lines(store, poll_s=LONG_S)
    asking = Asking(client)
    tasks = await standing(lines, asking, 64)
    await client.enqueue_many([{"kind": "scan", "queue": "q", "job_id": f"j{number:02}"} for number in range(64)])
    answers = await asyncio.gather(*tasks)

    assert [[job.id for job in jobs] for jobs in answers] == [[f"j{number:02}"] for number in range(64)]
    assert len(asking.asked) <= 64 + 8
    assert store.calls["news"] <= 8
    await lines.close()


@on_a_loop
async def test_job_that_becomes_due_by_time_is_found_without_news() -> None:
    clock = VirtualClock()
    store = CountingStore(clock=clock)
    client, lines = await client_of(store), Lines(store, poll_s=0.01)
    await client.enqueue("scan", queue="q", job_id="later", delay_s=60)
    asking = Asking(client)
    (task,) = await standing(lines, asking, 1)
    clock.pass_s(61)
    (job,) = await task

    assert job.id == "later"
    await lines.close()


@on_a_loop
async def test_waiter_that_is_cancelled_leaves_the_line_to_the_next() -> None:
    store = CountingStore()
    client, lines = await client_of(store), Lines(store, poll_s=LONG_S)
    first, second = await standing(lines, Asking(client), 2)
    first.cancel()
    await asyncio.wait([first])
    waiters = lines.waiters
    await client.enqueue("scan", queue="q", job_id="a")
    (job,) = await second

    assert waiters == 1
    assert (job.id, job.owner) == ("a", "w1")
    await lines.close()


@on_a_loop
async def test_claim_under_way_for_a_waiter_that_left_is_carried_out_and_repeated_by_its_request_id() -> None:
    store = CountingStore()
    client, lines = await client_of(store), Lines(store, poll_s=LONG_S)
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def claim() -> Sequence[Job]:
        begun.set()
        await go_on.wait()
        return await client.claim(worker="w", queues=["q"], request_id="r1")

    await client.enqueue("scan", queue="q", job_id="a")
    task = asyncio.create_task(lines.claim(KEY, claim, LONG_S))
    await begun.wait()
    task.cancel()
    await asyncio.wait([task])
    go_on.set()
    await lines.close()

    (job,) = await client.claim(worker="w", queues=["q"], request_id="r1")
    assert (job.id, job.attempt) == ("a", 1)


@on_a_loop
async def test_claim_under_way_when_the_time_is_over_is_waited_for() -> None:
    store = CountingStore()
    client, lines = await client_of(store), Lines(store)

    async def claim() -> Sequence[Job]:
        await asyncio.sleep(0.1)
        return await client.claim(worker="w", queues=["q"])

    await client.enqueue("scan", queue="q", job_id="a")
    (job,) = await lines.claim(KEY, claim, 0.01)

    assert job.id == "a"
    await lines.close()


@on_a_loop
async def test_error_of_a_claim_is_its_waiters_alone() -> None:
    store = CountingStore()
    client, lines = await client_of(store), Lines(store, poll_s=0.01)
    errors = [InvalidArgument("wrong"), StoreError("out of reach", code="store_unavailable")]

    def failing(error: Exception) -> Callable[[], Coroutine[Any, Any, Sequence[Job]]]:
        async def claim() -> Sequence[Job]:
            raise error

        return claim

    await client.enqueue("scan", queue="q", job_id="a")
    claims = [failing(errors[0]), failing(errors[1]), Asking(client).by(0)]
    answers = await asyncio.gather(*[lines.claim(KEY, each, LONG_S) for each in claims], return_exceptions=True)

    assert answers[:2] == errors
    assert [job.id for job in answers[2]] == ["a"]  # type: ignore[union-attr]
    await lines.close()


@on_a_loop
async def test_one_waiter_too_many_is_refused() -> None:
    store = CountingStore()
    client, lines = await client_of(store), Lines(store, waiters_max=2)
    tasks = await standing(lines, Asking(client), 2)
    with pytest.raises(ServiceError) as caught:
        await lines.claim("another line", Asking(client).by(3), LONG_S)
    await lines.close()

    assert caught.value.code == "too_many_waiting"
    assert await asyncio.gather(*tasks) == [[], []]


@on_a_loop
async def test_closing_sends_all_away_at_once_and_takes_no_job_for_them() -> None:
    store = CountingStore()
    client, lines = await client_of(store), Lines(store, poll_s=LONG_S)
    asking = Asking(client)
    tasks = await standing(lines, asking, 5)
    await client.enqueue("scan", queue="q", job_id="a")
    await lines.close()

    assert await asyncio.gather(*tasks) == [[]] * 5
    assert (await client.get("a")).state == "queued"
    assert await lines.claim(KEY, asking.by(9), LONG_S) != []  # it asks, and does not wait


@on_a_loop
async def test_lines_take_turns() -> None:
    """One with plenty to do does not keep another waiting until it has done all."""
    store = CountingStore()
    client, lines = await client_of(store), Lines(store, poll_s=LONG_S, claims_max=1)
    served: list[str] = []

    def by(queue: str) -> Callable[[], Coroutine[Any, Any, Sequence[Job]]]:
        async def claim() -> Sequence[Job]:
            jobs = await client.claim(worker="w", queues=[queue])
            served.extend(queue for _ in jobs)
            return jobs

        return claim

    queues = ["long"] * 20 + ["short"]
    tasks = [asyncio.create_task(lines.claim(queue, by(queue), LONG_S)) for queue in queues]
    while lines.waiters < 21:
        await asyncio.sleep(0)
    await client.enqueue_many([{"kind": "scan", "queue": queue} for queue in queues])
    await asyncio.gather(*tasks)

    assert served.index("short") <= 3
    await lines.close()
