"""What is counted, what the budgets end, and what becomes of a job that was asked to stop."""

from detent.client.moments import to_moment
from detent.lifecycle import Policy, Retry
from detent.testing.contract.bench import PERMANENT, TRANSIENT, Bench, Contract, fence, refused, scenario

QUICK = Retry(max_attempts=3, base_s=0, jitter=False)


class Counting(Contract):
    @scenario("ALL-16")
    async def test_failures_crashes_and_interruptions_are_counted_apart(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.running(policy=Policy(retry=QUICK))
        await client.fail(job.id, error=TRANSIENT, **fence(job))
        (job,) = await client.claim(worker="w1")
        await client.release(job.id, **fence(job))
        (job,) = await client.claim(worker="w1")
        bench.clock.pass_s(60)
        await client.reconcile()

        job = await client.get(job.id)
        assert (job.failures, job.crashes, job.interruptions, job.attempt) == (1, 1, 1, 3)
        assert job.state == "queued"

    @scenario("ALL-16", "STD-06", "STD-10")
    async def test_used_up_failures_end_in_the_dead_letters(self, bench: Bench) -> None:
        await bench.ready(policy=Policy(retry=QUICK))
        for _ in range(3):
            (job,) = await bench.client.claim(worker="w1", start=True)
            job = await bench.client.fail(job.id, error=TRANSIENT, **fence(job))

        assert (job.state, job.failures) == ("dead_lettered", 3)
        assert job.error is not None
        assert (job.error.reason_code, job.error.stage) == ("exhausted_retries", "exec")
        assert (job.last_owner, await bench.client.get(job.id)) == ("w1", job)

    @scenario("ALL-16", "STD-04")
    async def test_used_up_crashes_end_in_the_dead_letters(self, bench: Bench) -> None:
        job = await bench.ready(policy=Policy(retry=Retry(max_attempts=5, crashes_max=2)))
        for _ in range(2):
            await bench.client.claim(worker="w1")
            bench.clock.pass_s(60)
            await bench.client.reconcile()

        job = await bench.client.get(job.id)
        assert (job.state, job.crashes) == ("dead_lettered", 2)
        assert job.error is not None
        assert job.error.reason_code == "infrastructure_failure"

    @scenario("ALL-16", "CON-01")
    async def test_used_up_contract_job_waits_for_a_person_who_starts_the_count_anew(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.claimed("contract", policy=Policy(retry=Retry.never()))
        bench.clock.pass_s(60)
        await client.reconcile()
        bench.clock.pass_s(3_600)
        assert await client.reconcile() == 0
        stalled = await client.get(job.id)
        await refused(client.requeue(job.id, role="scheduler", expected_rev=stalled.rev), "wrong_actor")
        requeued = await client.requeue(job.id, role="operator", expected_rev=stalled.rev)

        assert (stalled.state, stalled.crashes) == ("stalled", 1)
        assert (requeued.state, requeued.crashes) == ("queued", 0)

    @scenario("ALL-17")
    async def test_soft_cancel_leaves_word_for_the_owner_and_asking_twice_changes_nothing(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.running(policy=Policy(grace_s=10))
        asked = await client.cancel(job.id, reason="stop")
        again = await client.cancel(job.id, reason="stop!")
        done = await client.complete(job.id, result=1, worker="w1", attempt=1)

        assert (asked.state, asked.is_cancel_requested) == ("running", True)
        assert asked.cancel_by == to_moment(bench.clock() + 10_000_000)
        assert (again.answer, again.rev) == ("unchanged", asked.rev)
        assert done.state == "succeeded"

    @scenario("ALL-17")
    async def test_owner_that_was_asked_to_stop_may_cancel_with_what_it_saved(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.running()
        await client.cancel(job.id)
        stopped = await client.release(job.id, checkpoint={"page": 3}, worker="w1", attempt=1)

        assert (stopped.state, stopped.checkpoint) == ("cancelled", {"page": 3})
        assert await client.claim(worker="w2") == []

    @scenario("ALL-17")
    async def test_retryable_failure_after_a_soft_cancel_cancels(self, bench: Bench) -> None:
        job = await bench.running("document")
        await bench.client.cancel(job.id)
        failed = await bench.client.fail(job.id, error=TRANSIENT, worker="w1", attempt=1)

        assert (failed.state, failed.is_ended) == ("FAILED", True)
        assert failed.error is not None
        assert failed.error.category == "cancelled"

    @scenario("ALL-17")
    async def test_reconciler_cancels_when_the_grace_is_over_and_not_before(self, bench: Bench) -> None:
        job = await bench.running(policy=Policy(grace_s=10))
        await bench.client.cancel(job.id)
        bench.clock.pass_s(9.999_999)
        early = await bench.client.reconcile()
        bench.clock.pass_s(0.000_001)
        due = await bench.client.reconcile()

        assert (early, due) == (0, 1)
        assert (await bench.client.get(job.id)).state == "cancelled"
        assert (await bench.client.history(job.id))[-1].actor == "reconciler"

    @scenario("ALL-17")
    async def test_hard_cancel_revokes_the_lease_at_once(self, bench: Bench) -> None:
        job = await bench.running()
        cancelled = await bench.client.cancel(job.id, mode="hard")

        assert (cancelled.state, cancelled.owner, cancelled.result, cancelled.error) == ("cancelled", None, None, None)
        await refused(bench.client.fail(job.id, error=PERMANENT, **fence(job)), "illegal_move")
