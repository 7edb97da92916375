"""Jobs that the calendar asks for: one for each tick, whoever is there, and whoever dies."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

import detent
from detent import Client, Cron, Job
from detent.runtime import CronJob, Settings, Worker
from tests.runtime.program import WorkerProgram
from tests.runtime.working import WAIT_S, Seen, handler, on_loop, until

EVERY_SECOND = "* * * * * *"
HOUR = timedelta(hours=1)


async def nothing() -> None: ...


@asynccontextmanager
async def scheduling(url: str, *cron: CronJob, name: str = "w") -> AsyncIterator[Worker]:
    settings = Settings(reconcile_s=0.2, poll_s=0.05)
    worker = Worker(
        partial(detent.connect, url), [handler("tick", nothing)], settings=settings, name=name, observer=Seen(),
        cron=cron,
    )  # fmt: skip
    task = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await asyncio.wait_for(task, WAIT_S)


def ticking(cron: str = EVERY_SECOND, **more: Any) -> CronJob:
    return CronJob(name="tick", cron=cron, job={"kind": "tick"}, **more)


async def ticks(client: Client) -> list[datetime]:
    """What the jobs that were made were made for, by their logs."""
    jobs = (await client.find(limit=500)).items
    return sorted([await tick_of(client, job) for job in jobs])


async def tick_of(client: Client, job: Job) -> datetime:
    cause = (await client.history(job.id))[0].cause
    assert cause is not None
    return datetime.fromisoformat(cause.removeprefix("tick "))


async def put_back(client: Client, to: datetime, name: str = "tick", cron: str = EVERY_SECOND) -> None:
    """As if the next tick had been then, and nobody there."""
    await client.keep_schedules([{"name": name, "cron": cron, "kind": "tick", "next_at": to}])


def last_hour(now: datetime) -> datetime:
    """The last tick of a schedule that ticks every hour."""
    return now.replace(minute=0, second=0, microsecond=0)


def test_each_tick_has_one_job_however_many_workers_there_are(url: str) -> None:
    async def scene() -> None:
        async with detent.connect(url) as client, AsyncExitStack() as stack:
            for number in range(4):
                await stack.enter_async_context(scheduling(url, ticking(), name=f"w{number}"))

            async def enough() -> bool:
                return len(await ticks(client)) >= 4

            await until(enough)
            had = await ticks(client)

            assert len(set(had)) == len(had)
            events = await client.history((await client.find(limit=1)).items[0].id)
            assert events[0].actor == "schedule:tick"

    on_loop(scene)


def test_of_ticks_that_nobody_was_there_for_the_last_one_is_made_up_for(url: str) -> None:
    async def scene() -> None:
        now = datetime.now(UTC)
        async with detent.connect(url) as client:
            await put_back(client, now - 5 * HOUR, cron="0 * * * *")
            async with scheduling(url, ticking("0 * * * *")):
                await until(lambda: _has_moved_on(client, now))
            (tick,) = await ticks(client)
            (schedule,) = await client.schedules()

            assert tick == last_hour(now)
            assert schedule.next_at == tick + HOUR

    on_loop(scene)


def test_tick_that_is_too_long_ago_passes_by(url: str) -> None:
    async def scene() -> None:
        now = datetime.now(UTC)
        cron = f"{(now - timedelta(minutes=5)).minute} {(now - timedelta(minutes=5)).hour} * * *"
        async with detent.connect(url) as client:
            await put_back(client, now - timedelta(minutes=5), cron=cron)
            async with scheduling(url, ticking(cron, late_max_s=60)):
                await until(lambda: _has_moved_on(client, now))

            assert await ticks(client) == []

    on_loop(scene)


def test_job_of_a_tick_is_made_as_any_other_of_its_kind(url: str) -> None:
    """A document is submitted at once, and one that is not to be doubled is not."""

    async def scene() -> None:
        app = detent.App(url)

        @app.job(lifecycle="document", queue="elsewhere", dedupe="one", cron=Cron("* * * * *", {"page": 7}))
        async def report(page: int) -> None: ...

        (declared,) = app.cron()
        async with detent.connect(url) as client:
            async with scheduling(url, replace(declared, cron=EVERY_SECOND)) as worker:
                await until(lambda: worker.tally.ticks["report"] >= 2)
            (job,) = (await client.find()).items

            assert (job.state, job.queue, job.payload) == ("QUEUED", "elsewhere", {"page": 7})

    on_loop(scene)


def test_tick_of_the_time_in_which_a_schedule_was_paused_is_not_made_up_for(url: str) -> None:
    """Nobody was there to let it pass by."""

    async def scene() -> None:
        now = datetime.now(UTC)
        async with detent.connect(url) as client:
            await put_back(client, last_hour(now), cron="0 * * * *")
            await client.pause_schedule("tick")
            await client.resume_schedule("tick")
            (resumed,) = await client.schedules()
            async with scheduling(url, ticking("0 * * * *")):
                await until(lambda: _has_moved_on(client, resumed.next_at))
            (schedule,) = await client.schedules()

            assert await ticks(client) == []
            assert schedule.next_at == last_hour(now) + HOUR

    on_loop(scene)


def test_first_tick_after_a_schedule_was_resumed_has_its_job(url: str) -> None:
    """Though nobody was there when it came, either."""

    async def scene() -> None:
        async with detent.connect(url) as client:
            await put_back(client, datetime.now(UTC) - HOUR)
            await client.pause_schedule("tick")
            await client.resume_schedule("tick")
            (resumed,) = await client.schedules()
            await asyncio.sleep(1.1)  # a tick passes; nothing else could be waited for
            async with scheduling(url, ticking()) as worker:
                await until(lambda: worker.tally.ticks["tick"] >= 1)
            first, *_ = await ticks(client)

            assert first >= resumed.next_at

    on_loop(scene)


def test_paused_schedule_moves_on_without_a_job(url: str) -> None:
    async def scene() -> None:
        now = datetime.now(UTC)
        async with detent.connect(url) as client:
            await put_back(client, last_hour(now), cron="0 * * * *")
            await client.pause_schedule("tick")
            async with scheduling(url, ticking("0 * * * *")):
                await until(lambda: _has_moved_on(client, now))

            assert await ticks(client) == []

    on_loop(scene)


def test_schedule_whose_job_is_refused_is_told_of_and_others_go_on(url: str) -> None:
    async def scene() -> None:
        now = datetime.now(UTC)
        full = CronJob(name="full", cron="0 * * * *", job={"kind": "tick", "queue": "full"})
        async with detent.connect(url) as client:
            await client.limit_queue("full", depth_max=0)
            await put_back(client, last_hour(now), name="full", cron="0 * * * *")
            async with scheduling(url, full, ticking()) as worker:

                async def is_made() -> bool:
                    return bool(await ticks(client))

                await until(is_made)
                await until(lambda: worker.tally.troubles["schedule 'full'"] == 1)

    on_loop(scene)


def test_schedule_that_another_program_has_changed_is_left_to_it(url: str) -> None:
    async def scene() -> None:
        async with detent.connect(url) as client, scheduling(url, ticking("0 0 1 1 *")):

            async def is_kept() -> bool:
                return bool(await client.schedules())

            await until(is_kept)
            await put_back(client, datetime.now(UTC) - timedelta(seconds=5))
            async with scheduling(url, ticking(), name="new") as new:
                await until(lambda: new.tally.ticks["tick"] >= 2)
            had = await ticks(client)

            assert len(set(had)) == len(had)

    on_loop(scene)


def test_schedule_that_was_removed_stays_away_from_a_running_worker(url: str) -> None:
    async def scene() -> None:
        async with detent.connect(url) as client, scheduling(url, ticking()) as worker:
            await until(lambda: worker.tally.ticks["tick"] >= 1)
            await client.forget_schedule("tick")
            made = len(await ticks(client))
            async with scheduling(url, CronJob(name="other", cron=EVERY_SECOND, job={"kind": "tick"}), name="w2") as w2:
                await until(lambda: w2.tally.ticks["other"] >= 2)

            assert worker.tally.ticks["tick"] <= made
            assert [each.name for each in await client.schedules()] == ["other"]

    on_loop(scene)


async def _has_moved_on(client: Client, now: datetime) -> bool:
    return all(each.next_at > now for each in await client.schedules()) and bool(await client.schedules())


@pytest.mark.requirement("DOC-05")
def test_tick_has_one_job_also_where_schedulers_are_killed_as_they_make_it(url: str) -> None:
    """Each is killed the moment that it says it had a tick, or in the middle of the next; the others go on."""
    with ExitStack() as stack:
        steady, *doomed = [
            stack.enter_context(WorkerProgram("scheduling", url=url, name=f"w{number}")) for number in range(4)
        ]
        for each in doomed:
            each.hear()
            each.kill()
        steady.hear()
        steady.terminate()
        steady.ended()

    async def scene() -> None:
        async with detent.connect(url) as client:
            had = await ticks(client)
            (schedule,) = await client.schedules()

            assert len(had) >= len(doomed) + 1
            assert len(set(had)) == len(had)
            assert schedule.last_at == had[-1]
            assert (await client.verify()).violations == ()

    on_loop(scene)
