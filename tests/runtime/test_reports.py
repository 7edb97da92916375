"""What a worker says of itself to the others: that it is there, what it serves, how busy it is, and that it is gone."""

import asyncio
import os

import pytest

from detent.runtime import Context
from detent.store.fleet import Lane
from tests.runtime.working import handler, on_loop, until, working


async def wait_for_release(ctx: Context) -> None:
    while True:
        await ctx.acheck()
        await asyncio.sleep(0.01)


def nothing() -> None: ...


def test_worker_is_listed_with_what_it_serves_and_leaves_the_list_when_it_stops(url: str) -> None:
    async def scene() -> None:
        own = [handler("wait", wait_for_release, context=True), handler("scan", nothing, "thread")]
        async with working(url, *own, name="w7", queues=("ocr", "mail"), concurrency=3, threads=2) as at:
            await until(_is_listed(at))
            (worker,) = await at.client.workers()
            await at.drained()
            after = await at.client.workers()

            assert (worker.name, worker.pid, worker.queues) == ("w7", os.getpid(), ("ocr", "mail"))
            assert (worker.kinds, worker.slots, worker.running) == (("wait", "scan"), 5, 0)
            assert worker.lanes == (
                Lane(isolation="async", kinds=("wait",), slots=3), Lane(isolation="thread", kinds=("scan",), slots=2),
            )  # fmt: skip
            assert not worker.is_draining
            assert after == []

    on_loop(scene)


def test_worker_that_is_to_stop_says_so_at_once_and_how_many_it_still_runs(url: str) -> None:
    async def scene() -> None:
        async with working(url, handler("wait", wait_for_release, context=True), grace_s=60.0) as at:
            await at.client.enqueue("wait")
            await until(lambda: len(at.worker.live) == 1)
            at.worker.stop()

            async def is_draining() -> bool:
                found = await at.client.workers()
                return any(each.is_draining and each.running == each.lanes[0].running == 1 for each in found)

            await until(is_draining)

    on_loop(scene)


@pytest.mark.requirement("STD-16")
def test_worker_counts_leases_that_ran_out_dead_letters_and_retries(url: str) -> None:
    from detent import Policy, Retry

    def fail() -> None:
        raise LookupError("no such page")

    async def scene() -> None:
        async with working(url, handler("fail", fail, "thread")) as at:
            short = Policy(lease_s=0.05, heartbeat_s=0.02, allow_unusual_lease=True, retry=Retry(max_attempts=1))
            lost = await at.client.enqueue("elsewhere", policy=short)
            await at.client.claim(worker="gone", kinds=["elsewhere"])
            failed = await at.client.enqueue("fail", policy=Policy(retry=Retry(max_attempts=2, base_s=0)))
            await at.ended(failed)
            await at.ended(lost)
            tally = at.worker.tally
            await until(lambda: tally.expiries == 1)

            assert tally.ends["fail", "retried"] == 1
            assert tally.failures["fail", "LookupError"] == 2
            assert {kind: count for (kind, _), count in tally.dead_letters.items()} == {"fail": 1, "elsewhere": 1}
            assert tally.claims == {("default", "fail"): 2}

    on_loop(scene)


def _is_listed(at: object):  # type: ignore[no-untyped-def]
    async def is_listed() -> bool:
        return bool(await at.client.workers())  # type: ignore[attr-defined]

    return is_listed
