"""Leases: kept whatever a handler does, given up before they end where they cannot be kept, and never taken back."""

import asyncio
import time
from functools import partial
from typing import Any

import pytest

import detent
from detent import Client, Policy, Retry
from detent.errors import LeaseLost
from detent.lifecycles import BUILT_IN, CONTRACT
from detent.runtime import Context, Isolation, Settings, Worker
from tests.runtime import deeds
from tests.runtime.cutting import Cut
from tests.runtime.working import Seen, Working, handler, on_loop, until, working


def test_leases_of_every_lifecycle_are_renewed_and_ended(url: str) -> None:
    """Contract demands the revision of every verb, renewals included."""
    go_on = asyncio.Event()

    async def wait(ctx: Context) -> str:
        for step in range(3):
            await ctx.asave(step, flush=True)
        await ctx.asave("with a heartbeat")
        await go_on.wait()
        await ctx.asave("at last", flush=True)
        return "done"

    async def scene() -> None:
        async with working(url, handler("wait", wait, context=True)) as at:
            made = [
                await at.client.enqueue("wait", lifecycle=lifecycle, policy=_beating(lifecycle), submit=True)
                for lifecycle in BUILT_IN
            ]
            for job in made:
                await until(partial(_has_saved, at.client, job.id, "with a heartbeat"))
            go_on.set()
            ends = [await at.ended(job) for job in made]

            assert [(job.outcome, job.attempt, job.result) for job in ends] == [("success", 1, "done")] * 5
            assert [job.checkpoint for job in ends] == ["at last"] * 5
            assert [line for line in at.seen.lines if not line.startswith("stalled")] == []

    on_loop(scene)


def _beating(lifecycle: str) -> Policy:
    """As soon as may be without a busy machine missing two heartbeats in a row."""
    return BUILT_IN[lifecycle].policy(lease_s=20, heartbeat_s=1, allow_unusual_lease=True)


async def _has_saved(client: Client, job_id: str, checkpoint: str) -> bool:
    return bool((await client.get(job_id)).checkpoint == checkpoint)


@pytest.mark.requirement("ALL-07")
def test_handler_whose_job_was_taken_away_is_told_and_its_result_is_a_note(url: str) -> None:
    told: list[str] = []

    async def listen(ctx: Context) -> str:
        while ctx.attempt == 1:
            try:
                ctx.check()
            except LeaseLost:
                told.append("LeaseLost")
                return "too late"
            await asyncio.sleep(0.01)
        return "second"

    async def scene() -> None:
        async with working(url, handler("listen", listen, context=True)) as at:
            policy = CONTRACT.policy(retry=Retry(base_s=0.01))
            job = await at.client.enqueue("listen", lifecycle="contract", policy=policy)
            await until(lambda: _is(at.client, job.id, "running"))
            await _stall(at.client, job.id)
            ended = await at.ended(job)
            await until(lambda: not at.worker.live)

            assert told == ["LeaseLost"]
            assert (ended.result, ended.attempt) == ("second", 2)
            (note,) = await at.client.notes(job.id)
            assert (note.kind, note.payload["attempt"]) == ("late_result", 1)

    on_loop(scene)


async def _stall(client: Client, job_id: str) -> None:
    """By the system, at any time: it revokes the lease."""
    job = await client.get(job_id)
    await client.stall(job_id, expected_rev=job.rev, role="scheduler")


async def _is(client: Client, job_id: str, state: str) -> bool:
    return (await client.get(job_id)).state == state


@pytest.mark.parametrize("isolation", ["async", "thread", "process"])
def test_worker_that_cannot_renew_stops_its_handler_before_the_lease_ends(
    url: str, isolation: Isolation, tmp_path: Any
) -> None:
    mark = tmp_path / "mark"

    async def listen(ctx: Context, mark: str) -> None:
        await asyncio.to_thread(deeds.listen, ctx, mark)

    async def scene() -> None:
        cut, seen = Cut(url), Seen()
        function = listen if isolation == "async" else deeds.listen
        worker = Worker(
            cut.connect,
            [handler("listen", function, isolation, context=True)],
            settings=Settings(children=1, grace_s=0, reconcile_s=60, retention=None),
            name="w",
            observer=seen,
        )
        async with detent.connect(url) as client:
            task = asyncio.create_task(worker.run())
            policy = Policy(lease_s=2, heartbeat_s=0.5, allow_unusual_lease=True, retry=Retry(max_attempts=9))
            job = await client.enqueue("listen", {"mark": str(mark)}, policy=policy)
            await until(lambda: mark.exists() and mark.read_text(encoding="utf-8") == "here")
            cut.is_cut = True
            await until(lambda: mark.read_text(encoding="utf-8") == "LeaseLost")
            is_live = (await client.get(job.id)).lease_expires_at
            await until(lambda: not worker.live)

            assert is_live is not None
            assert time.time() < is_live.timestamp()
            assert (await client.get(job.id)).attempt == 1
            assert "stopping listen lost" in seen.lines
            worker.stop_now()
            await task

    on_loop(scene)


def test_result_of_a_handler_that_was_stopped_for_its_lease_is_discarded(url: str) -> None:
    """The lease may still be live in the store, and still nothing is completed after it was given up."""

    async def stay(ctx: Context) -> str:
        while True:
            try:
                await ctx.acheck()
            except LeaseLost:
                return "a result"
            await asyncio.sleep(0.01)

    async def scene() -> None:
        cut = Cut(url)
        worker = Worker(
            cut.connect,
            [handler("stay", stay, context=True)],
            settings=Settings(grace_s=0, reconcile_s=60, retention=None),
            observer=Seen(),
        )
        async with detent.connect(url) as client:
            task = asyncio.create_task(worker.run())
            policy = Policy(lease_s=4, heartbeat_s=0.5, allow_unusual_lease=True)
            job = await client.enqueue("stay", policy=policy)
            await until(lambda: _is(client, job.id, "running"))
            cut.is_cut = True
            await until(lambda: worker.tally.stops["lost"] == 1)
            cut.is_cut = False
            await until(lambda: not worker.live)

            assert (await client.get(job.id)).state == "running"
            assert await client.notes(job.id) == []
            worker.stop_now()
            await task

    on_loop(scene)


@pytest.mark.requirement("STD-04", "ALL-16")
def test_run_limit_is_enforced_and_counted_as_a_failure(url: str) -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    async def scene() -> None:
        async with working(url, handler("wait", wait), handler("spin", deeds.blocked, "process")) as at:
            spun, *ends = await asyncio.gather(
                _timed_out(at, "standard", "spin", {"for_s": 60}),
                *[_timed_out(at, lifecycle, "wait") for lifecycle in ("standard", "document", "engine", "dispatch")],
            )

            assert [(job.state, job.error and job.error.reason_code) for job in ends] == [
                ("dead_lettered", "timeout"),
                ("FAILED", "timeout"),
                ("failed", "timeout"),
                ("TIMEOUT", "timeout"),
            ]
            assert (spun.state, spun.failures, spun.crashes) == ("dead_lettered", 2, 0)
            assert ends[0].failures == 2

    on_loop(scene)


async def _timed_out(at: Working, lifecycle: str, kind: str, payload: Any = None) -> detent.Job:
    retry = Retry(max_attempts=2, base_s=0.01)
    policy = BUILT_IN[lifecycle].policy(timeout_s=0.3, retry=retry)
    job = await at.client.enqueue(kind, payload, lifecycle=lifecycle, policy=policy, submit=True)
    return await at.ended(job)


def test_contract_job_over_its_run_limit_stalls_and_is_run_again(url: str) -> None:
    async def once(ctx: Context) -> str:
        if ctx.attempt == 1:
            await asyncio.Event().wait()
        return f"attempt {ctx.attempt}"

    async def scene() -> None:
        async with working(url, handler("once", once, context=True)) as at:
            policy = CONTRACT.policy(timeout_s=0.3, retry=Retry(max_attempts=3, base_s=0.01))
            job = await at.done("once", lifecycle="contract", policy=policy)

            assert (job.state, job.result, job.failures) == ("succeeded", "attempt 2", 1)

    on_loop(scene)


def test_child_that_dies_is_reported_at_once_and_its_job_resumes_where_it_saved(url: str) -> None:
    async def scene() -> None:
        async with working(url, handler("vanish", deeds.vanish, "process", context=True)) as at:
            began_s = time.monotonic()
            policy = Policy(lease_s=60, retry=Retry(max_attempts=5, base_s=0.01))
            job = await at.done("vanish", {"times": 2}, policy=policy)

            assert time.monotonic() - began_s < 20
            assert (job.state, job.attempt, job.result) == ("succeeded", 3, "attempt 3, saved 2")
            assert (job.crashes, job.failures) == (2, 0)
            assert job.last_error is not None
            assert job.last_error.type == "ProcessCrashed"
            assert "ended with exit code 7" in job.last_error.message

    on_loop(scene)


@pytest.mark.requirement("ALL-16")
def test_job_whose_process_dies_every_time_ends_in_the_dead_letters(url: str) -> None:
    async def scene() -> None:
        async with working(url, handler("vanish", deeds.vanish, "process", context=True)) as at:
            policy = Policy(retry=Retry(max_attempts=5, crashes_max=2))
            job = await at.done("vanish", {"times": 9}, policy=policy)

            assert (job.state, job.crashes, job.failures, job.attempt) == ("dead_lettered", 2, 0, 2)
            assert job.error is not None
            assert (job.error.type, job.error.reason_code) == ("ProcessCrashed", "infrastructure_failure")

    on_loop(scene)


@pytest.mark.parametrize(("lifecycle", "state"), [("contract", "succeeded"), ("document", "SUCCEEDED")])
def test_job_whose_process_died_is_run_again_where_its_lifecycle_has_a_way_back(
    url: str, lifecycle: str, state: str
) -> None:
    async def scene() -> None:
        async with working(url, handler("vanish", deeds.vanish, "process", context=True)) as at:
            policy = BUILT_IN[lifecycle].policy(
                lease_s=2, heartbeat_s=0.5, allow_unusual_lease=True, retry=Retry(max_attempts=3, base_s=0.01)
            )
            job = await at.done("vanish", {"times": 1}, lifecycle=lifecycle, policy=policy, submit=True)

            assert (job.state, job.attempt, job.crashes, job.failures) == (state, 2, 1, 0)

    on_loop(scene)


def test_engine_job_whose_process_died_has_failed_at_once(url: str) -> None:
    async def scene() -> None:
        async with working(url, handler("vanish", deeds.vanish, "process", context=True)) as at:
            job = await at.done("vanish", {"times": 1}, lifecycle="engine")

            assert (job.state, job.crashes) == ("failed", 1)
            assert job.error is not None
            assert (job.error.type, job.error.category) == ("ProcessCrashed", "system")

    on_loop(scene)
