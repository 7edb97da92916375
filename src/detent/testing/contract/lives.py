"""Every lifecycle lived to each of its ends, and every record read back as it was answered."""

from typing import Any, Final

from detent.client import Job
from detent.lifecycle import Policy
from detent.lifecycles import BUILT_IN
from detent.testing.contract.bench import PERMANENT, TRANSIENT, Bench, Contract, fence, scenario

EVERYTHING: Final[dict[str, Any]] = {
    "payload": {"path": "a.pdf", "pages": [1, 2.5, None, True], "title": "Über 漢字 🙂", "big": 2**60},
    "queue": "ocr",
    "priority": 5,
    "dedupe_key": "a.pdf",
    "correlation_id": "order-7",
    "trace_id": "trace-1",
    "parent_job_id": "parent-1",
    "workflow_id": "workflow-1",
    "step_index": 3,
    "topic": "job.chat.simple",
    "context_ptr": "s3://bucket/context",
    "adapter_id": "gpu",
    "env": {"user_id": "u-1", "region": "eu"},
}


async def as_kept(bench: Bench, job: Job) -> Job:
    """What a verb answered is what is kept, to the last column."""
    kept = await bench.client.get(job.id)
    assert kept.record == job.record
    return job


def ends(name: str) -> set[str]:
    return {state.name for state in BUILT_IN[name].states if state.phase == "ended"}


class Lives(Contract):
    @scenario("STD-01")
    async def test_standard_job_reaches_each_of_its_ends(self, bench: Bench) -> None:
        client = bench.client
        succeeded = await bench.succeeded()
        running = await bench.running()
        failed = await client.fail(running.id, error=PERMANENT, **fence(running))
        cancelled = await client.cancel((await bench.ready()).id)
        assigned = await bench.claimed()
        dead = await client.dead_letter(assigned.id, reason_code="parse_error", stage="input", **fence(assigned))

        reached = [await as_kept(bench, job) for job in (succeeded, failed, cancelled, dead)]
        assert {job.state for job in reached} == ends("standard")
        assert succeeded.result == {"pages": 3}
        assert failed.error is not None
        assert failed.error.message == "never"

    @scenario("DSP-03")
    async def test_dispatch_job_reaches_each_of_its_ends(self, bench: Bench) -> None:
        client = bench.client
        succeeded = await bench.succeeded("dispatch")
        running = await bench.running("dispatch")
        failed = await client.fail(running.id, error=PERMANENT, **fence(running))
        cancelled = await client.cancel((await bench.ready("dispatch")).id, mode="hard")
        pending = await client.enqueue("scan", lifecycle="dispatch")
        denied = await client.schedule(pending.id, verdict="deny", rule="no-scans")
        lost = await bench.claimed("dispatch")
        bench.clock.pass_s(61)
        await client.reconcile()
        timeout = await client.get(lost.id)

        reached = [await as_kept(bench, job) for job in (succeeded, failed, cancelled, denied, timeout)]
        assert {job.state for job in reached} == ends("dispatch")

    @scenario("ENG-01")
    async def test_engine_job_reaches_each_of_its_ends(self, bench: Bench) -> None:
        completed = await bench.succeeded("engine")
        await bench.ready("engine")
        bench.clock.pass_s(31)
        await bench.client.reconcile()
        (failed,) = (await bench.client.find(state="failed")).items

        assert {(await as_kept(bench, job)).state for job in (completed, failed)} == ends("engine")
        assert failed.error is not None
        assert failed.error.category == "queue"

    @scenario("CON-01", "CON-05")
    async def test_contract_job_stalls_is_requeued_and_reaches_each_of_its_ends(self, bench: Bench) -> None:
        client = bench.client
        first = await bench.running("contract")
        stalled = await client.stall(first.id, **fence(first))
        queued = await client.requeue(stalled.id, role="operator", expected_rev=stalled.rev)
        (again,) = await client.claim(worker="w2", start=True)
        succeeded = await client.complete(again.id, **fence(again))
        other = await bench.running("contract")
        failed = await client.fail(other.id, error=TRANSIENT, **fence(other))

        assert (stalled.state, queued.state, again.attempt) == ("stalled", "queued", 2)
        assert {(await as_kept(bench, job)).state for job in (succeeded, failed)} == ends("contract")

    @scenario("DOC-01", "DOC-03")
    async def test_document_job_is_submitted_retried_and_reaches_each_of_its_ends(self, bench: Bench) -> None:
        client = bench.client
        created = await client.enqueue("scan", lifecycle="document")
        await client.submit(created.id)
        (running,) = await client.claim(worker="w1")
        retrying = await client.fail(running.id, error=TRANSIENT, **fence(running))
        bench.clock.pass_s(1)
        await client.reconcile()
        (again,) = await client.claim(worker="w1")
        succeeded = await client.complete(again.id, result=None, **fence(again))
        failed = await client.cancel((await bench.ready("document")).id)

        assert (created.state, retrying.state, again.retries) == ("CREATED", "RETRYING", 1)
        assert {(await as_kept(bench, job)).state for job in (succeeded, failed)} == ends("document")

    @scenario("DSP-01", "ALL-09")
    async def test_job_is_read_back_as_it_was_made(self, bench: Bench) -> None:
        policy = Policy(lease_s=45, timeout_s=90, error_classes={"KeyError": "PermanentError"})

        made = await bench.client.enqueue("scan", policy=policy, **EVERYTHING)

        kept = await as_kept(bench, made)
        assert {name: getattr(kept, name) for name in EVERYTHING} == EVERYTHING
        assert kept.policy == policy

    @scenario("ALL-09")
    async def test_record_is_kept_as_answered_at_every_step(self, bench: Bench) -> None:
        client = bench.client
        job = await as_kept(bench, await bench.claimed(payload={"n": 1}))
        job = await as_kept(bench, await client.start(job.id, **fence(job)))
        job = await as_kept(bench, await client.renew(job.id, checkpoint={"page": 4}, progress=0.5, **fence(job)))
        job = await as_kept(bench, await client.progress(job.id, 0.75, "nearly", **fence(job)))
        job = await as_kept(bench, await client.fail(job.id, error=TRANSIENT, **fence(job)))

        assert job.checkpoint == {"page": 4}
        assert job.progress is not None
        assert (job.progress.fraction, job.progress.message) == (0.75, "nearly")
        assert (job.owner, job.error, job.result) == (None, None, None)
        assert job.last_error is not None

    @scenario("ALL-09")
    async def test_large_values_come_back_whole(self, bench: Bench) -> None:
        large = "x" * 200_000
        jobs = [await bench.running(payload=large, job_id=f"large-{n}") for n in range(2)]

        done = await bench.client.complete_many([{"job_id": job.id, "result": large, **fence(job)} for job in jobs])

        assert all(isinstance(job, Job) for job in done), done
        assert [(await bench.client.get(job.id)).payload for job in jobs] == [large, large]
        assert [(await bench.client.get(job.id)).result for job in jobs] == [large, large]
