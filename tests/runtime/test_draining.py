"""Shutting down: nothing is lost, nothing is counted as a failure, and what cannot be given back is left to time."""

import asyncio
import threading
import time
from functools import partial

import pytest

import detent
from detent.errors import Stopped
from detent.runtime import Context
from tests.runtime import deeds
from tests.runtime.program import WorkerProgram
from tests.runtime.working import Working, handler, on_loop, until, working


async def wait_for_ever() -> None:
    await asyncio.Event().wait()


async def _active(at: Working, job: detent.Job) -> bool:
    return (await at.client.get(job.id)).phase == "active"


async def _is_draining(at: Working) -> bool:
    """By its own report; what it had claimed and not begun is given back then."""
    return any(each.is_draining for each in await at.client.workers())


def test_handlers_finish_within_the_grace_and_nothing_more_is_claimed(url: str) -> None:
    go_on = asyncio.Event()

    async def work() -> str:
        await go_on.wait()
        return "finished"

    async def scene() -> None:
        async with working(url, handler("work", work), concurrency=2) as at:
            made = [await at.client.enqueue("work") for _ in range(6)]
            for job in made[:2]:
                await until(partial(_active, at, job))
            at.worker.stop()
            await until(lambda: _is_draining(at))
            go_on.set()
            await at.drained()
            states = [(await at.client.get(job.id)).state for job in made]

            assert states == ["succeeded"] * 2 + ["queued"] * 4
            assert [(await at.client.get(job.id)).interruptions for job in made] == [0] * 6

    on_loop(scene)


@pytest.mark.parametrize(
    ("lifecycle", "state", "counted"),
    [
        ("standard", "queued", 1),
        ("contract", "stalled", 1),
        ("document", "RETRYING", 1),
        ("dispatch", "RUNNING", 0),
        ("engine", "running", 0),
    ],
)
@pytest.mark.requirement("ALL-16")
def test_what_is_left_after_the_grace_is_given_back_as_its_lifecycle_allows(
    url: str, lifecycle: str, state: str, counted: int
) -> None:
    begun = asyncio.Event()  # the store may say so earlier: what has not begun has nothing to save

    async def save(ctx: Context) -> None:
        begun.set()
        try:
            while True:
                await ctx.acheck()
                await asyncio.sleep(0.01)
        except Stopped:
            ctx.save({"page": 9})
            raise

    async def scene() -> None:
        async with working(url, handler("save", save, context=True), grace_s=0.1, reconcile_s=60) as at:
            job = await at.client.enqueue("save", lifecycle=lifecycle, submit=True)
            await until(begun.is_set)
            await at.drained()
            left = await at.client.get(job.id)

            assert (left.state, left.interruptions, left.failures, left.crashes) == (state, counted, 0, 0)
            assert left.checkpoint == ({"page": 9} if counted else None)

    on_loop(scene)


@pytest.mark.parametrize("isolation", ["async", "thread", "process"])
def test_handlers_that_do_not_listen_are_stopped_and_given_back(url: str, isolation: str) -> None:
    over = threading.Event()

    async def scene() -> None:
        deaf = {
            "async": handler("deaf", wait_for_ever),
            "thread": handler("deaf", over.wait, "thread"),
            "process": handler("deaf", deeds.blocked_for_ever, "process"),
        }[isolation]
        async with working(url, deaf, grace_s=0.1) as at:
            job = await at.client.enqueue("deaf")
            await until(lambda: _active(at, job))
            began_s = time.monotonic()
            await at.drained()

            assert time.monotonic() - began_s < 10
            left = await at.client.get(job.id)
            assert (left.state, left.interruptions, left.owner) == ("queued", 1, None)

    try:
        on_loop(scene)
    finally:
        over.set()


def test_second_request_to_stop_does_not_wait_for_the_grace(url: str) -> None:
    async def scene() -> None:
        async with working(url, handler("wait", wait_for_ever), grace_s=60) as at:
            job = await at.client.enqueue("wait")
            await until(lambda: _active(at, job))
            at.worker.stop()
            await asyncio.sleep(0.05)
            assert not at.task.done()
            at.worker.stop_now()
            await asyncio.wait_for(at.task, 5)

            assert (await at.client.get(job.id)).state == "queued"

    on_loop(scene)


def test_worker_process_drains_on_sigterm_and_exits_well(url: str) -> None:
    with detent.connect(url) as client, WorkerProgram("worker", url=url, name="w1", grace_s=0.2) as program:
        program.hear()
        kept = client.enqueue("wait", {"for_s": 60})
        program.hear()
        program.terminate()
        *_, last = program.ended()

        assert last == {"drained": True, "ends": [["wait", "released", 1]]}
        job = client.get(kept.id)
        assert (job.state, job.interruptions, job.failures, job.crashes) == ("queued", 1, 0, 0)
        assert client.verify().violations == ()


def test_worker_process_stops_at_once_on_a_second_sigterm(url: str) -> None:
    with detent.connect(url) as client, WorkerProgram("worker", url=url, name="w1", grace_s=60) as program:
        program.hear()
        kept = client.enqueue("deaf", {"for_s": 60})
        program.hear()
        program.terminate()
        time.sleep(0.2)
        assert program.is_running
        program.terminate()
        program.ended(10)

        assert client.get(kept.id).state == "queued"
