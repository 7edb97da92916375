"""What is removed when: ended jobs whole, in bounded batches; what heartbeats said earlier, the log never."""

from typing import Final

from detent.lifecycle import Policy
from detent.store import Retention
from detent.store.query import DAY_S
from detent.testing.contract.bench import PERMANENT, Bench, Contract, fence, refused, scenario

MONTH: Final = Retention(successes_s=30 * DAY_S)


class Removal(Contract):
    @scenario("STD-13")
    async def test_successes_stay_a_week_and_others_a_month(self, bench: Bench) -> None:
        client = bench.client
        done = await bench.succeeded(queue="a")
        running = await bench.running(queue="b")
        failed = await client.fail(running.id, error=PERMANENT, **fence(running))
        cancelled = await client.cancel((await bench.ready(queue="c")).id)
        kept = []
        for days, seconds in ((7, -1), (0, 2), (23, -2), (0, 2)):
            bench.clock.pass_s(days * DAY_S + seconds)
            await client.prune()
            kept.append({story.job.id for story in await bench.told()})

        everything = {done.id, failed.id, cancelled.id}
        assert kept == [everything, everything - {done.id}, everything - {done.id}, set()]

    @scenario("STD-13")
    async def test_job_that_is_removed_leaves_nothing_behind(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.running(job_id="old", correlation_id="c", dedupe_key="k")
        renewed = await client.renew(job.id, progress=0.5, **fence(job))
        await client.complete(job.id, **fence(renewed))
        await refused(client.complete(job.id, worker="w1", attempt=1), "illegal_move")
        removed = await client.prune(successes_s=0)
        bench.clock.pass_s(1)
        removed = removed.plus(await client.prune(successes_s=0))

        assert (removed.jobs, removed.events) == (1, 5)
        for read in (client.get, client.history, client.notes):
            await refused(read("old"), "not_found")
        assert (await client.events()).items == []
        assert (await client.events(correlation_id="c")).items == []
        assert (await client.find()).items == []
        assert await bench.told() == []

    @scenario("STD-13")
    async def test_id_of_a_removed_job_is_free_again(self, bench: Bench) -> None:
        client = bench.client
        await bench.succeeded(job_id="mine", payload="old")
        bench.clock.pass_s(8 * DAY_S)
        await client.prune()
        await refused(client.rerun("mine"), "not_found")
        fresh = await client.enqueue("scan", payload="new", job_id="mine")

        assert (fresh.answer, fresh.payload, fresh.rev) == ("applied", "new", 1)
        assert await bench.verbs("mine") == ["enqueue"]

    @scenario("ALL-05")
    async def test_request_ids_of_a_removed_job_are_not_taken_for_those_of_its_successor(self, bench: Bench) -> None:
        client = bench.client
        for _ in range(2):
            await client.enqueue("scan", request_id="order-1")
            (job,) = await client.claim(worker="w1", start=True)
            done = await client.complete(job.id, request_id="done-1", **fence(job))
            await client.prune(successes_s=0)
            bench.clock.pass_s(1)
            await client.prune(successes_s=0)

        assert (done.answer, done.state) == ("applied", "succeeded")

    @scenario("STD-13")
    async def test_jobs_not_ended_are_never_removed(self, bench: Bench) -> None:
        lasting = Policy(lease_s=1e9, heartbeat_s=1e8, allow_unusual_lease=True)
        live = [
            await bench.ready(queue="a"),
            await bench.running(queue="b", policy=lasting),
            await bench.client.enqueue("scan", lifecycle="document"),
        ]
        bench.clock.pass_s(400 * DAY_S)
        removed = await bench.client.prune(successes_s=0, others_s=0)

        assert removed.jobs == 0
        assert [(await bench.client.get(job.id)).record for job in live] == [job.record for job in live]

    @scenario("STD-13")
    async def test_removal_goes_in_batches_of_at_most_the_limit(self, bench: Bench) -> None:
        for _ in range(5):
            await bench.succeeded()
        bench.clock.pass_s(31 * DAY_S)
        batches = [await bench.store.prune("default", MONTH, 2) for _ in range(3)]

        assert [batch.jobs for batch in batches] == [2, 2, 1]
        assert [batch.is_done for batch in batches] == [False, False, True]
        assert (await bench.client.find()).items == []

    @scenario("STD-13")
    async def test_caller_may_bound_how_many_jobs_are_removed(self, bench: Bench) -> None:
        for _ in range(5):
            await bench.succeeded()
        bench.clock.pass_s(8 * DAY_S)
        removed = await bench.client.prune(jobs_max=3)

        assert removed.jobs == 3
        assert len(await bench.told()) == 2

    @scenario("STD-13", "ALL-15")
    async def test_what_heartbeats_said_expires_and_the_log_stays_whole(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.running()
        job = await client.renew(job.id, progress=0.5, checkpoint={"page": 1}, **fence(job))
        job = await client.progress(job.id, 0.75, **fence(job))
        done = await client.complete(job.id, execution_ms=7, **fence(job))
        fresh = (await client.history(job.id))[-2:]
        bench.clock.pass_s(self.verbose_s + 1)
        await client.prune()
        heartbeat, completed = (await client.history(job.id))[-2:]

        assert fresh[0].payload == {"fraction": 0.5, "message": ""}
        assert (heartbeat.type, heartbeat.payload) == ("job_heartbeat", None)
        assert heartbeat.changes == fresh[0].changes
        assert completed.payload == {"execution_ms": 7}
        assert await client.notes(job.id) == []
        assert await client.get(job.id) == done

    @scenario("STD-13", "ALL-03")
    async def test_reader_of_the_log_is_not_led_astray_by_removal(self, bench: Bench) -> None:
        client = bench.client
        await bench.succeeded()
        cursor = (await client.events(limit=2)).cursor
        end = await bench.store.wait(None, 0)
        bench.clock.pass_s(8 * DAY_S)
        await client.prune()
        job = await bench.ready()

        for place in (cursor, end):
            assert [event.job_id for event in (await client.events(cursor=place)).items] == [job.id]
