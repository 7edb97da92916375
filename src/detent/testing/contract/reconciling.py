"""What time demands, carried out by the store: expiry, time limits, waits that are over; bounded, and once."""

import asyncio

from detent.lifecycle import Policy, Retry
from detent.lifecycles import CONTRACT, STANDARD
from detent.testing.contract.bench import TRANSIENT, Bench, Contract, fence, refused, scenario


class Reconciling(Contract):
    @scenario("STD-04", "ALL-12")
    async def test_lost_lease_is_taken_back_and_the_job_claimable_again(self, bench: Bench) -> None:
        job = await bench.running()
        bench.clock.pass_s(59.999_999)
        early = await bench.client.reconcile()
        bench.clock.pass_s(0.000_001)
        due = await bench.client.reconcile()
        again = await bench.client.reconcile()
        (claimed,) = await bench.client.claim(worker="w2")

        assert (early, due, again) == (0, 1, 0)
        assert (claimed.id, claimed.attempt, claimed.crashes) == (job.id, 2, 1)
        assert (await bench.verbs(job.id))[-2:] == ["expire", "claim"]

    @scenario("ALL-12")
    async def test_two_missed_heartbeats_are_enough(self, bench: Bench) -> None:
        job = await bench.running(policy=Policy(lease_s=60, heartbeat_s=10))
        bench.clock.pass_s(20)

        assert await bench.client.reconcile() == 1
        assert (await bench.client.get(job.id)).state == "queued"

    @scenario("ENG-02", "ALL-12")
    async def test_time_limits_of_states_are_kept(self, bench: Bench) -> None:
        for limit_s, make in ((30, bench.ready), (10, bench.claimed)):
            job = await make("engine")
            bench.clock.pass_s(limit_s - 0.000_001)
            early = await bench.client.reconcile()
            bench.clock.pass_s(0.000_001)

            assert (early, await bench.client.reconcile()) == (0, 1)
            assert (await bench.verbs(job.id))[-1] == "time_out"

    @scenario("ALL-16")
    async def test_run_limit_counts_as_a_failure_and_is_named_for_what_it_was(self, bench: Bench) -> None:
        job = await bench.running(policy=STANDARD.policy(timeout_s=20, retry=Retry.never()))
        bench.clock.pass_s(20)
        await bench.client.reconcile()

        job = await bench.client.get(job.id)
        assert (job.state, job.failures) == ("dead_lettered", 1)
        assert job.error is not None
        assert job.error.reason_code == "timeout"

    @scenario("DOC-03", "STD-05")
    async def test_retry_waits_for_its_backoff_and_no_longer(self, bench: Bench) -> None:
        client = bench.client
        parked = await bench.running("document", queue="a")
        await client.fail(parked.id, error=TRANSIENT, **fence(parked))
        queued = await bench.running(queue="b", policy=Policy(retry=Retry(base_s=1, jitter=False)))
        await client.fail(queued.id, error=TRANSIENT, **fence(queued))
        bench.clock.pass_s(0.999_999)
        early = await client.reconcile(), await client.claim(worker="w1", queues=["a", "b"])
        bench.clock.pass_s(0.000_001)
        due = await client.reconcile(), len(await client.claim(worker="w1", queues=["a", "b"], limit=5))

        assert early == (0, [])
        assert due == (1, 2)

    @scenario("CON-01", "CON-08")
    async def test_stalled_job_is_requeued_after_its_backoff(self, bench: Bench) -> None:
        job = await bench.claimed("contract", policy=CONTRACT.policy(retry=Retry(base_s=5, jitter=False)))
        bench.clock.pass_s(60)
        await bench.client.reconcile()
        stalled = await bench.client.get(job.id)
        assert await bench.client.claim(worker="w2") == []
        bench.clock.pass_s(5)
        await bench.client.reconcile()
        (again,) = await bench.client.claim(worker="w2")

        assert stalled.state == "stalled"
        assert again.id == job.id
        assert await bench.verbs(job.id) == ["enqueue", "claim", "stall", "requeue", "claim"]

    @scenario("CON-08")
    async def test_stalled_job_is_reclaimed_where_the_policy_allows(self, bench: Bench) -> None:
        job = await bench.claimed("contract", policy=CONTRACT.policy(reclaim=True, retry=Retry(base_s=5, jitter=False)))
        bench.clock.pass_s(60)
        await bench.client.reconcile()
        bench.clock.pass_s(5)
        (again,) = await bench.client.claim(worker="w2")

        assert (again.id, again.attempt) == (job.id, 2)
        assert await bench.verbs(job.id) == ["enqueue", "claim", "stall", "claim"]

    @scenario("ALL-12")
    async def test_reconcile_does_no_more_than_its_limit_and_the_longest_waiting_first(self, bench: Bench) -> None:
        for number in range(5):
            await bench.claimed(job_id=f"job-{number}")
            bench.clock.pass_s(1)
        bench.clock.pass_s(60)

        assert await bench.client.reconcile(2) == 2
        assert {(await bench.client.get(f"job-{number}")).state for number in (0, 1)} == {"queued"}
        assert [await bench.client.reconcile(2) for _ in range(3)] == [2, 1, 0]

    @scenario("ALL-03")
    async def test_two_reconcilers_at_once_do_each_thing_once(self, bench: Bench) -> None:
        jobs = [await bench.claimed() for _ in range(10)]
        bench.clock.pass_s(60)
        done = await asyncio.gather(*(bench.client.reconcile(4) for _ in range(4)))

        assert sum(done) == 10
        assert {len(await bench.client.history(job.id)) for job in jobs} == {3}

    @scenario("ALL-07")
    async def test_worker_that_comes_back_after_expiry_changes_nothing(self, bench: Bench) -> None:
        job = await bench.running()
        bench.clock.pass_s(60)
        await bench.client.reconcile()
        await bench.client.claim(worker="w2", start=True)

        await refused(bench.client.renew(job.id, worker="w1", attempt=1), "not_owner")
        await refused(bench.client.complete(job.id, worker="w1", attempt=1), "not_owner")
        assert (await bench.client.get(job.id)).owner == "w2"
