"""How long jobs have waited that could be claimed: of each queue the first of them, whatever its place in the order."""

from detent.client.moments import to_moment
from detent.testing.contract.bench import PERMANENT, TRANSIENT, Bench, Contract, fence, scenario
from detent.testing.contract.claims import taken


class Ages(Contract):
    @scenario("STD-16")
    async def test_oldest_ready_job_is_the_one_that_waits_longest_not_the_first_in_the_order(
        self, bench: Bench
    ) -> None:
        since = bench.clock()
        await bench.ready(job_id="patient", queue="ocr", priority=-1_000)
        bench.clock.pass_s(10)
        await bench.ready(job_id="first", queue="ocr", kind="print", priority=1_000)
        await bench.ready(job_id="other", queue="mail", adapter_id="gpu")
        bench.clock.pass_s(60)

        assert await bench.store.oldest_ready("default") == {"ocr": since, "mail": since + 10_000_000}
        assert await bench.store.oldest_ready("default", "mail") == {"mail": since + 10_000_000}
        assert await bench.store.oldest_ready("default", "none") == {}
        assert (await bench.client.queue("ocr")).oldest_ready_at == to_moment(since)

    @scenario("STD-16")
    async def test_job_for_later_waits_from_its_moment_on(self, bench: Bench) -> None:
        due = bench.clock() + 60_000_000
        await bench.ready(job_id="later", run_at=to_moment(due))
        before = await bench.store.oldest_ready("default")
        bench.clock.pass_s(60)
        at_once = await bench.store.oldest_ready("default")
        bench.clock.pass_s(60)

        assert (before, at_once) == ({}, {"default": due})
        assert await bench.store.oldest_ready("default") == {"default": due}

    @scenario("STD-16")
    async def test_what_is_at_work_or_has_ended_waits_no_more_and_a_retry_waits_anew(self, bench: Bench) -> None:
        policy = {"retry": {"max_attempts": 5, "base_s": 30.0, "jitter": False}}
        job = await bench.running(job_id="a", policy=policy)
        while_running = await bench.store.oldest_ready("default")
        bench.clock.pass_s(5)
        retried = await bench.client.fail("a", error=TRANSIENT, **fence(job))
        assert retried.due_at is not None
        bench.clock.pass_s(100)
        waiting = (await bench.client.queue("default")).oldest_ready_at
        (again,) = await bench.client.claim(worker="w1", start=True)
        await bench.client.fail("a", error=PERMANENT, **fence(again))

        assert while_running == {}
        assert waiting == retried.due_at
        assert await bench.store.oldest_ready("default") == {}

    @scenario("STD-16", "STD-14")
    async def test_jobs_of_a_paused_queue_wait_all_the_same(self, bench: Bench) -> None:
        since = bench.clock()
        await bench.ready(queue="ocr")
        await bench.client.pause_queue("ocr")
        bench.clock.pass_s(60)

        assert await taken(bench, queues=["ocr"]) == []
        assert {each.name: each.oldest_ready_at for each in await bench.client.queues()} == {"ocr": to_moment(since)}

    @scenario("ALL-18")
    async def test_oldest_ready_job_is_the_tenants_own(self, bench: Bench) -> None:
        other, since = await bench.tenant("other"), bench.clock()
        await bench.ready()
        bench.clock.pass_s(60)
        await other.enqueue("scan")

        assert await bench.store.oldest_ready("default") == {"default": since}
        assert await bench.store.oldest_ready("other") == {"default": since + 60_000_000}
