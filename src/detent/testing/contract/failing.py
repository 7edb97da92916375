"""What a failure leaves on the record: tried again or not, counted, with a reason, a stage and a category."""

from typing import Final

from detent.kernel.failure import REASON_CODES, STAGES
from detent.lifecycle import Policy, Retry
from detent.testing.contract.bench import PERMANENT, TRANSIENT, Bench, Contract, fence, refused, scenario

PASSING: Final = ("TransientError", "DeadlineExceeded", "QueueOverload", "DependencyUnavailable", "my.own.Error")
LASTING: Final = ("ValidationError", "PermanentError", "InvalidInput", "ConfigurationError", "ResourceLimitExceeded")
MAPPED: Final = Policy(error_classes={"my.own.Error": "PermanentError"}, retry=Retry(max_attempts=9, base_s=0))


class Failing(Contract):
    @scenario("STD-20", "DOC-02")
    async def test_passing_errors_are_tried_again_and_lasting_ones_end_the_job(self, bench: Bench) -> None:
        for lifecycle, back, end in (("standard", "queued", "failed"), ("document", "RETRYING", "FAILED")):
            states = {}
            for error in PASSING + LASTING:
                job = await bench.running(lifecycle, queue=f"{lifecycle}-{error}")
                failed = await bench.client.fail(job.id, error={"type": error}, **fence(job))
                states[error] = (await bench.client.get(failed.id)).state
            assert states == dict.fromkeys(PASSING, back) | dict.fromkeys(LASTING, end)

    @scenario("STD-20")
    async def test_job_s_own_mapping_of_errors_is_kept_with_it(self, bench: Bench) -> None:
        job = await bench.running(policy=MAPPED)
        await bench.client.fail(job.id, error={"type": "my.own.Error"}, **fence(job))

        assert (await bench.client.get(job.id)).state == "failed"

    @scenario("STD-09", "STD-10")
    async def test_every_reason_and_stage_of_a_dead_letter_is_kept(self, bench: Bench) -> None:
        for number, reason in enumerate(REASON_CODES):
            stage = STAGES[number % len(STAGES)]
            job = await bench.running(queue=reason)
            await bench.client.dead_letter(job.id, reason_code=reason, stage=stage, role="operator")

            kept = (await bench.client.get(job.id)).error
            assert kept is not None
            assert (kept.reason_code, kept.stage) == (reason, stage)

    @scenario("ENG-03", "ENG-04")
    async def test_every_failure_of_an_engine_s_job_is_on_the_record_with_its_category(self, bench: Bench) -> None:
        client = bench.client
        reported = {"ValidationError": "validation", "BuildError": "engine", "NetworkError": "system"}
        found = {}
        for error in reported:
            job = await bench.running("engine", queue=error)
            await client.fail(job.id, error={"type": error, "message": "why"}, **fence(job))
            found[error] = await _category(bench, job.id)
        waiting = await bench.ready("engine", queue="nobody")
        lost = await bench.running("engine", queue="lost")
        bench.clock.pass_s(60)
        await client.reconcile()

        assert found == reported
        assert await _category(bench, waiting.id) == "queue"
        assert await _category(bench, lost.id) == "system"

    @scenario("CON-03")
    async def test_only_the_owner_starts_renews_completes_and_fails(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.claimed("contract")
        thief = {**fence(job), "worker": "thief"}
        for call in (
            client.start(job.id, **thief),  # type: ignore[arg-type]
            client.renew(job.id, **thief),  # type: ignore[arg-type]
        ):
            await refused(call, "not_owner")
        running = await client.start(job.id, **fence(job))
        thief = {**fence(running), "worker": "thief"}
        await refused(client.complete(job.id, **thief), "not_owner")  # type: ignore[arg-type]
        await refused(client.fail(job.id, error=PERMANENT, **thief), "not_owner")  # type: ignore[arg-type]

        assert await client.get(job.id) == running

    @scenario("DOC-05")
    async def test_document_job_has_three_retries_a_second_apart_and_then_an_end(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.ready("document")
        for retry in range(1, 5):
            (running,) = await client.claim(worker="w1")
            failed = await client.fail(job.id, error=TRANSIENT, **fence(running))
            assert failed.retries == min(retry, 3)
            assert await client.claim(worker="w2") == [], "nobody gets it before its second is over"
            bench.clock.pass_s(1)
            await client.reconcile()

        assert (await client.get(job.id)).state == "FAILED"
        assert await client.claim(worker="w2") == []


async def _category(bench: Bench, job_id: str) -> str | None:
    """Of a job that failed: it has an error, and one event that says so."""
    job = await bench.client.get(job_id)
    events = await bench.client.history(job_id)
    assert job.state == "failed"
    assert job.error is not None
    assert [event.type for event in events].count("JOB_FAILED") == 1
    return job.error.category
