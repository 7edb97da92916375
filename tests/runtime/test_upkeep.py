"""What a worker does beside running handlers: it names what stands still, reconciles, prunes, and outlives trouble."""

import asyncio
import ctypes
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

import detent
from detent import Client, Codec, Policy, Retry
from detent.client.connecting import Connecting
from detent.lifecycles import BUILT_IN, ENGINE
from detent.runtime import Settings, Worker
from detent.runtime.duty import nudged_within
from detent.store import Replies, Retention, Store
from detent.testing.memory import MemoryStore
from tests.runtime.cutting import Cut
from tests.runtime.working import SHORT, WAIT_S, Seen, handler, on_loop, until, working

SCRIPT = """
import asyncio, sys
from functools import partial
import detent
from detent.runtime import Handler, Settings, Worker

def shout(word):
    return word.upper()

async def main(url):
    own = Handler(kind="shout", function=shout, isolation="process", wants_context=False, arguments=dict,
                  result=lambda value: value, address="__main__:shout")
    worker = Worker(partial(detent.connect, url), [own], settings=Settings(children=1))
    async with detent.connect(url) as client:
        task = asyncio.create_task(worker.run())
        job = await client.enqueue("shout", {"word": "here"})
        print((await client.wait(job.id, timeout_s=20)).result)
        worker.stop()
        await task

if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
"""


async def nothing() -> None: ...


def test_handler_that_keeps_the_interpreter_to_itself_is_reported(url: str) -> None:
    def hog() -> None:
        ctypes.PyDLL(None).usleep(900_000)  # a call that does not let go of the interpreter's lock

    async def scene() -> None:
        async with working(url, handler("hog", hog, "thread"), stall_s=0.4) as at:
            job = await at.done("hog")
            await until(lambda: bool(at.seen.lines))

            assert job.state == "succeeded"
            assert f"stalled hog (job {job.id})" in at.seen.lines

    on_loop(scene)


def test_many_leases_that_end_together_are_dealt_with_in_bounded_batches(url: str) -> None:
    async def scene() -> None:
        async with detent.connect(url) as client:
            policy = Policy(retry=Retry(base_s=0))
            await client.enqueue_many([{"kind": "nothing", "policy": policy} for _ in range(100)])
            await client.claim(worker="gone", limit=100, lease_s=0.05, allow_unusual_lease=True)
        async with working(url, handler("nothing", nothing), reconcile_max=30) as at:
            await until(lambda: at.worker.tally.ends["nothing", "success"] == 100)

            assert at.worker.tally.reconciliations == 100
            crashes = [job.crashes for job in (await at.client.find(limit=200)).items]
            assert crashes == [1] * 100

    on_loop(scene)


def test_what_was_reconciled_when_the_worker_stops_is_still_told() -> None:
    class Slow(MemoryStore):
        async def reconcile(self, limit: int) -> Replies:
            replies = await super().reconcile(limit)
            if replies:
                worker.stop()  # on the record already, and the answer is on its way
                await asyncio.sleep(0.3)
            return replies

    async def scene() -> None:
        async with connect() as client:
            await client.enqueue("other", lifecycle="engine", policy=ENGINE.policy(timeouts={"queued": 0.01}))
            await asyncio.wait_for(worker.run(), WAIT_S)

    store = Slow()
    connect = partial(_connect_to, store)
    worker = Worker(connect, [handler("nothing", nothing)], settings=Settings(reconcile_s=0.05))
    on_loop(scene)

    assert worker.tally.losses == {("other", "failed"): 1}


def _connect_to(store: Store) -> Connecting:
    return Connecting(Client(store, tenant="default", codec=Codec(), lifecycles=tuple(BUILT_IN.values())))


def test_jobs_that_ended_long_enough_ago_are_removed(url: str) -> None:
    async def scene() -> None:
        retention = Retention(successes_s=0, others_s=3600)
        async with working(url, handler("nothing", nothing), retention=retention, prune_s=0.05) as at:
            kept = await at.client.enqueue("other")
            await at.client.cancel(kept.id)
            gone = await at.client.enqueue("nothing")
            await until(lambda: at.worker.tally.removals == 1)

            with pytest.raises(detent.NotFound):
                await at.client.get(gone.id)
            assert (await at.client.get(kept.id)).state == "cancelled"

    on_loop(scene)


def test_result_is_kept_until_the_store_is_there_again(url: str) -> None:
    async def scene() -> None:
        cut, seen, go_on = Cut(url), Seen(), asyncio.Event()

        async def wait() -> str:
            await go_on.wait()
            return "kept"

        worker = Worker(cut.connect, [handler("wait", wait)], settings=Settings(retention=None), observer=seen)
        async with detent.connect(url) as client:
            task = asyncio.create_task(worker.run())
            job = await client.enqueue("wait")
            await until(lambda: bool(worker.live))
            cut.is_cut = True
            go_on.set()
            await until(lambda: worker.tally.troubles["commit"] >= 2)
            cut.is_cut = False
            ended = await client.wait(job.id, timeout_s=20)
            worker.stop()
            await task

            assert (ended.state, ended.result, ended.attempt) == ("succeeded", "kept", 1)

    on_loop(scene)


def test_completion_whose_answer_was_lost_is_not_reported_twice(url: str) -> None:
    async def scene() -> None:
        cut = Cut(url)
        worker = Worker(cut.connect, [handler("nothing", nothing)], settings=Settings(retention=None), observer=Seen())
        async with detent.connect(url) as client:
            task = asyncio.create_task(worker.run())
            cut.loses_answers = 1
            job = await client.enqueue("nothing")
            await until(lambda: worker.tally.ends["nothing", "success"] == 1)
            worker.stop()
            await task

            assert worker.tally.troubles["commit"] == 1
            assert [event.verb for event in await client.history(job.id)][-1] == "complete"
            assert await client.notes(job.id) == []

    on_loop(scene)


def test_jobs_of_a_claim_whose_answer_was_lost_are_run_all_the_same(url: str) -> None:
    async def scene() -> None:
        cut = Cut(url)
        cut.loses_claims = 1
        worker = Worker(cut.connect, [handler("nothing", nothing)], settings=Settings(retention=None), observer=Seen())
        async with detent.connect(url) as client:
            made = await client.enqueue_many([{"kind": "nothing"} for _ in range(5)])
            task = asyncio.create_task(worker.run())
            ends = [await client.wait(job.id, timeout_s=20) for job in made if isinstance(job, detent.Job)]
            worker.stop()
            await task

            assert [(job.state, job.attempt, job.crashes) for job in ends] == [("succeeded", 1, 0)] * 5

    on_loop(scene)


def test_worker_that_cannot_reach_its_store_for_claims_tries_again(url: str) -> None:
    async def scene() -> None:
        cut = Cut(url)
        cut.is_cut = True
        worker = Worker(cut.connect, [handler("nothing", nothing)], settings=Settings(retention=None), observer=Seen())
        async with detent.connect(url) as client:
            task = asyncio.create_task(worker.run())
            job = await client.enqueue("nothing")
            await until(lambda: worker.tally.troubles["claim"] >= 2)
            cut.is_cut = False
            ended = await client.wait(job.id, timeout_s=20)
            worker.stop()
            await task

            assert ended.state == "succeeded"

    on_loop(scene)


def test_function_of_a_script_is_found_by_its_children(url: str, tmp_path: Path) -> None:
    script = tmp_path / "shouting.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run([sys.executable, str(script), url], capture_output=True, text=True, timeout=60, check=False)

    assert (done.stdout, done.returncode) == ("HERE\n", 0), done.stderr


def test_threads_and_children_are_gone_when_the_worker_is(url: str) -> None:
    def names() -> set[str]:
        return {thread.name for thread in threading.enumerate() if thread.name.startswith("detent")}

    def short() -> None:
        time.sleep(0.01)

    async def scene() -> None:
        before = names()
        async with working(url, handler("short", short, "thread"), handler("nothing", nothing)) as at:
            await at.done("short")
            await at.drained()
        await until(lambda: names() <= before)

    on_loop(scene)


@pytest.mark.requirement("STD-16")
def test_claims_renewals_ends_and_durations_are_counted_by_kind(url: str) -> None:
    async def wait(for_s: float) -> None:
        await asyncio.sleep(for_s)
        if for_s == 0.0:
            raise LookupError

    async def scene() -> None:
        async with working(url, handler("wait", wait)) as at:
            for for_s in (0.02, 0.02, 0.02, 1.0, 0.0):
                await at.done("wait", {"for_s": for_s}, policy=SHORT)
            await at.drained()
            tally = at.worker.tally

            assert dict(tally.ends) == {("wait", "success"): 4, ("wait", "retried"): 2, ("wait", "failure"): 1}
            assert dict(tally.failures) == {("wait", "LookupError"): 3}
            assert tally.claims == {("default", "wait"): 7}
            assert sum(tally.waits["wait"].counts) == 5  # of first attempts
            assert tally.renewals >= 1
            half, most = (tally.runs["wait"].quantile_s(share) for share in (0.5, 0.99))
            assert half is not None
            assert most is not None
            assert 0.01 < half < 0.3
            assert 0.9 < most < 5

    on_loop(scene)


def test_worker_runs_only_under_a_name_that_tells_it_from_others() -> None:
    made = [Worker(partial(detent.connect, "sqlite:///x.db"), [handler("nothing", nothing)]) for _ in range(2)]

    assert made[0].name != made[1].name


def test_duty_that_is_nudged_and_cancelled_at_once_ends() -> None:
    async def scene() -> None:
        nudged = asyncio.Event()
        duty = asyncio.create_task(nudged_within(60, nudged))
        await asyncio.sleep(0)
        nudged.set()
        duty.cancel()
        await asyncio.wait([duty], timeout=10)

        assert duty.cancelled()

    on_loop(scene)
