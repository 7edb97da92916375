"""Cancels: soft, hard, and soft that turns hard; from anywhere, for every isolation, each recorded for what it was."""

import asyncio
import os
import time
from pathlib import Path

import pytest

import detent
from detent import Policy
from detent.errors import Cancelled
from detent.runtime import Context, Isolation
from tests.runtime import deeds
from tests.runtime.working import SHORT, Working, handler, on_loop, until, working

LONG: Policy = Policy(grace_s=30.0)


async def wait_for_ever() -> None:
    await asyncio.Event().wait()


async def listen(ctx: Context) -> None:
    while True:
        await ctx.acheck()
        await asyncio.sleep(0.01)


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"


async def is_running(at: Working, job: detent.Job) -> bool:
    return (await at.client.get(job.id)).state == "running"


async def is_noted(at: Working, job: detent.Job) -> bool:
    return bool(await at.client.notes(job.id))


@pytest.mark.requirement("STD-07", "ALL-17")
def test_soft_cancel_reaches_the_handler_which_saves_and_stops(url: str) -> None:
    async def save_and_stop(ctx: Context) -> None:
        try:
            await listen(ctx)
        except Cancelled:
            ctx.save({"page": 7})
            raise

    async def scene() -> None:
        async with working(url, handler("work", save_and_stop, context=True)) as at:
            job = await at.client.enqueue("work", policy=LONG)
            await until(lambda: is_running(at, job))
            began_s = time.monotonic()
            await at.client.cancel(job.id, mode="soft", actor="ops")
            ended = await at.ended(job)

            assert time.monotonic() - began_s < LONG.grace_s / 2
            assert (ended.state, ended.checkpoint) == ("cancelled", {"page": 7})
            last = (await at.client.history(job.id))[-1]
            assert (last.verb, last.role, last.cause) == ("cancel", "owner", "stopped when it was asked to")

    on_loop(scene)


@pytest.mark.requirement("STD-07")
def test_soft_cancel_reaches_handlers_on_threads_and_in_processes(url: str, tmp_path: Path) -> None:
    async def scene() -> None:
        for isolation in ("thread", "process"):
            mark = tmp_path / isolation
            async with working(url, handler("listen", deeds.listen, isolation, context=True)) as at:
                job = await at.client.enqueue("listen", {"mark": str(mark)}, policy=LONG)
                await until(mark.exists)
                await at.client.cancel(job.id, mode="soft")
                ended = await at.ended(job)

                assert ended.state == "cancelled"
                assert mark.read_text(encoding="utf-8") == "Cancelled"

    on_loop(scene)


@pytest.mark.requirement("ALL-17")
def test_job_that_completes_in_spite_of_a_soft_cancel_has_succeeded(url: str) -> None:
    async def finish(ctx: Context) -> str:
        try:
            await listen(ctx)
        except Cancelled:
            return "done anyway"
        return "never"

    async def scene() -> None:
        async with working(url, handler("work", finish, context=True)) as at:
            job = await at.client.enqueue("work", policy=LONG)
            await until(lambda: is_running(at, job))
            await at.client.cancel(job.id)
            ended = await at.ended(job)

            assert (ended.state, ended.result) == ("succeeded", "done anyway")

    on_loop(scene)


@pytest.mark.requirement("STD-08")
@pytest.mark.parametrize("isolation", ["async", "thread", "process"])
def test_soft_cancel_turns_hard_when_the_grace_is_over(url: str, isolation: Isolation, tmp_path: Path) -> None:
    mark = tmp_path / "mark"

    async def deaf(mark: str) -> None:
        Path(mark).write_text("here", encoding="utf-8")
        await asyncio.Event().wait()

    def deaf_thread(mark: str) -> None:
        Path(mark).write_text("here", encoding="utf-8")
        time.sleep(3)

    async def scene() -> None:
        function = {"async": deaf, "thread": deaf_thread, "process": deeds.spin}[isolation]
        async with working(url, handler("deaf", function, isolation), reconcile_s=60) as at:
            job = await at.client.enqueue("deaf", {"mark": str(mark)}, policy=SHORT)
            await until(lambda: mark.exists() and mark.read_text(encoding="utf-8") != "")
            await at.client.cancel(job.id, mode="soft")
            ended = await at.ended(job)
            await until(lambda: not at.worker.live)

            assert ended.state == "cancelled"
            last = (await at.client.history(job.id))[-1]
            assert (last.role, last.cause) == ("owner", "stopped the hard way when the grace was over")
            if isolation == "process":
                assert is_gone(int(mark.read_text(encoding="utf-8")))

    on_loop(scene)


@pytest.mark.alone
@pytest.mark.requirement("STD-08")
def test_worker_learns_of_a_cancel_at_its_next_look_however_new_the_job_is(url: str) -> None:
    """Jobs begin at four moments between two looks, and are cancelled at once."""
    look_s, learned_s = 2.0, dict[str, float]()

    async def wait(ctx: Context) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            learned_s[ctx.job.id] = time.monotonic()

    async def cancel(at: Working, after_s: float) -> float:
        await asyncio.sleep(after_s)
        job = await at.client.enqueue("wait")
        await until(lambda: is_running(at, job))
        await at.client.cancel(job.id, mode="hard")
        cancelled_s = time.monotonic()
        await until(lambda: job.id in learned_s)
        return learned_s[job.id] - cancelled_s

    async def scene() -> None:
        async with working(url, handler("wait", wait, context=True), look_s=look_s) as at:
            took_s = await asyncio.gather(*(cancel(at, share * look_s) for share in (0.0, 0.25, 0.5, 0.75)))

            assert max(took_s) < 1.5 * look_s

    on_loop(scene)


@pytest.mark.requirement("STD-08")
def test_hard_cancel_cancels_the_task_and_abandons_the_thread(url: str) -> None:
    told: list[str] = []

    async def wait(ctx: Context) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            with pytest.raises(Cancelled):
                ctx.check()
            told.append("task")
            raise

    def sleep(ctx: Context) -> str:
        while True:
            try:
                ctx.check()
            except Cancelled:
                told.append("thread")
                return "too late"
            time.sleep(0.01)

    async def scene() -> None:
        handlers = handler("wait", wait, context=True), handler("sleep", sleep, "thread", context=True)
        async with working(url, *handlers) as at:
            jobs = [await at.client.enqueue(kind) for kind in ("wait", "sleep")]
            for job in jobs:
                await until(lambda job=job: is_running(at, job))
                await at.client.cancel(job.id, mode="hard")
            await until(lambda: len(told) == 2 and not at.worker.live)

            assert sorted(told) == ["task", "thread"]
            assert {(await at.client.get(job.id)).state for job in jobs} == {"cancelled"}
            await until(lambda: is_noted(at, jobs[1]))
            (note,) = await at.client.notes(jobs[1].id)
            assert (note.kind, note.payload["refused"]) == ("late_result", "illegal_move")

    on_loop(scene)


def test_worker_has_room_again_after_hard_cancels(url: str) -> None:
    def sleep(seconds: float) -> None:
        time.sleep(seconds)

    async def scene() -> None:
        handlers = handler("wait", wait_for_ever), handler("sleep", sleep, "thread")
        async with working(url, *handlers, concurrency=1, threads=1) as at:
            for kind, payload, quick in (("wait", {}, None), ("sleep", {"seconds": 2.0}, {"seconds": 0.0})):
                stuck = await at.client.enqueue(kind, payload)
                await until(lambda stuck=stuck: is_running(at, stuck))
                await at.client.cancel(stuck.id, mode="hard")
                if quick is not None:
                    assert (await at.done(kind, quick)).state == "succeeded"
            next_ = await at.client.enqueue("wait")
            await until(lambda: is_running(at, next_))

    on_loop(scene)


def test_async_handler_that_ignores_its_cancellation_is_waited_for_no_longer(url: str) -> None:
    is_free = asyncio.Event()

    async def stubborn() -> None:
        while not is_free.is_set():
            try:
                await is_free.wait()
            except asyncio.CancelledError:
                continue

    async def scene() -> None:
        async with working(url, handler("stubborn", stubborn), concurrency=1) as at:
            job = await at.client.enqueue("stubborn", policy=SHORT)
            await until(lambda: is_running(at, job))
            await at.client.cancel(job.id, mode="soft")
            ended = await at.ended(job)
            other = await at.client.enqueue("stubborn")
            await until(lambda: is_running(at, other))
            is_free.set()

            assert ended.state == "cancelled"
            assert (await at.ended(other)).state == "succeeded"

    on_loop(scene)


@pytest.mark.parametrize("lifecycle", ["dispatch", "engine", "document"])
def test_cancel_is_recorded_as_the_lifecycle_says(url: str, lifecycle: str) -> None:
    async def scene() -> None:
        async with working(url, handler("listen", listen, context=True)) as at:
            job = await at.client.enqueue("listen", lifecycle=lifecycle, submit=True)
            await until(lambda: _is_active(at, job))
            await at.client.cancel(job.id, mode="soft")
            ended = await at.ended(job)

            assert ended.state == {"dispatch": "CANCELLED", "engine": "failed", "document": "FAILED"}[lifecycle]
            assert (await at.client.history(job.id))[-1].verb == "cancel"

    on_loop(scene)


async def _is_active(at: Working, job: detent.Job) -> bool:
    return (await at.client.get(job.id)).phase == "active"
