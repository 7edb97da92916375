"""What the five wires tell of a job is told from what the store gives back: nothing of it may be lost on the way."""

from typing import Any

from detent.kernel import Event, Job
from detent.lifecycles import ENGINE, STANDARD
from detent.testing.contract.bench import PERMANENT, TRANSIENT, Bench, Contract, fence, scenario
from detent.wire import contract, dispatch, document, engine, standard, telemetry
from detent.wire.moments import to_rfc3339

REQUEST: dict[str, Any] = {
    "topic": "job.chat.simple",
    "priority": 5,
    "context_ptr": "s3://bucket/../context?x=%00",
    "adapter_id": "gpu",
    "env": {"user_id": "u1"},
    "parent_job_id": "p",
    "workflow_id": "flow",
    "step_index": 2,
}


class Wires(Contract):
    @scenario("STD-11", "STD-12")
    async def test_standard_events_have_the_published_names_and_fields(self, bench: Bench) -> None:
        job = await bench.running(correlation_id="c")
        renewed = await bench.client.renew(job.id, **fence(job))
        await bench.client.renew(job.id, checkpoint=1, **fence(renewed))
        await bench.client.complete(job.id, worker="w1", attempt=1)
        told = [standard.event_of(event) for event in await _events(bench, job.id)]

        assert [each.type for each in told] == [
            "job_queued", "job_claimed", "job_started", "job_lease_renewed", "job_heartbeat", "job_succeeded",
        ]  # fmt: skip
        assert {(each.job_id, each.correlation_id, each.version) for each in told} == {(job.id, "c", 1)}

    @scenario("STD-10")
    async def test_dead_letter_is_whole(self, bench: Bench) -> None:
        job = await bench.running()
        lease = job.record.lease_expires_at
        await bench.client.dead_letter(job.id, reason_code="parse_error", stage="input", worker="w1", attempt=1)
        letter = standard.dead_letter_of(STANDARD, await _record(bench, job.id))

        assert letter is not None
        assert (letter.reason_code, letter.stage, letter.attempts, letter.last_owner) == (
            "parse_error",
            "input",
            1,
            "w1",
        )
        assert lease is not None
        assert (letter.correlation_id, letter.last_lease_expires_at) == (job.id, to_rfc3339(lease))

    @scenario("DSP-01", "DSP-02", "DSP-10")
    async def test_dispatch_request_and_result_come_back_as_they_were_sent(self, bench: Bench) -> None:
        job = await bench.running("dispatch", **REQUEST)
        done = await bench.client.complete(job.id, result_ptr="file:///etc/passwd", execution_ms=7, **fence(job))
        record, events = await _record(bench, job.id), await _events(bench, job.id)
        asked, result = dispatch.request_of(record), dispatch.result_of(record, events[-1])

        assert {name: getattr(asked, name) for name in REQUEST} == REQUEST
        assert (result.status, result.result_ptr, result.worker_id, result.execution_ms) == (
            "SUCCEEDED", "file:///etc/passwd", "w1", 7,
        )  # fmt: skip
        assert done.result_ptr == result.result_ptr

    @scenario("ENG-05", "ENG-06", "ENG-09")
    async def test_engine_tells_the_job_and_its_telemetry_in_new_names_and_old(self, bench: Bench) -> None:
        job = await bench.running("engine", payload={"w": 3}, env={"user_id": "u1"})
        await bench.client.progress(job.id, 0.5, **fence(job))
        await bench.client.complete(job.id, worker="w1", attempt=1)
        record = await _record(bench, job.id)
        told = [
            each for event in await _events(bench, job.id) for each in telemetry.telemetry_of(ENGINE, event, record)
        ]
        notes = [note.record for note in await bench.client.notes(job.id)]
        progress = [each for note in notes for each in telemetry.telemetry_of(ENGINE, note, record)]

        assert [each.name for each in told] == ["JOB_QUEUED", "JOB_DISPATCHED", "JOB_RUNNING", "JOB_COMPLETED"]
        assert [each.name for each in progress] == ["JOB_PROGRESS"]
        shown = engine.job_of(ENGINE, record)
        assert (shown.payload, shown.user_id, shown.engine_id, shown.status) == ({"w": 3}, "u1", "w1", "completed")
        assert engine.job_of(ENGINE, record, legacy=True).status == "finished"

    @scenario("CON-06")
    async def test_contract_events_have_their_published_fields(self, bench: Bench) -> None:
        job = await bench.claimed("contract")
        await bench.client.start(job.id, request_id="r", **fence(job))
        told = [contract.event_of(event) for event in await _events(bench, job.id)]

        assert [each.type for each in told] == ["enqueued", "claimed", "started"]
        assert (told[-1].from_status, told[-1].to_status, told[-1].request_id) == ("claimed", "running", "r")

    @scenario("DOC-04", "DOC-06")
    async def test_document_metadata_follows_the_job_and_never_its_payload(self, bench: Bench) -> None:
        told = []
        for payload in ({"state": "FAILED", "retryCount": 9}, None):
            job = await bench.running("document", payload=payload)
            await bench.client.fail(job.id, error=TRANSIENT, **fence(job))
            retried = document.metadata_of(await _record(bench, job.id))
            bench.clock.pass_s(1)
            await bench.client.reconcile()
            (again,) = await bench.client.claim(worker="w1")
            await bench.client.fail(job.id, error=PERMANENT, **fence(again))
            failed = document.metadata_of(await _record(bench, job.id))
            told.append(
                [(each.state, each.retry_count, each.max_retries, each.error_type) for each in (retried, failed)]
            )

        assert told[0] == [("RETRYING", 1, 3, "RETRYABLE"), ("FAILED", 1, 3, "TERMINAL")]
        assert told[0] == told[1]


async def _record(bench: Bench, job_id: str) -> Job:
    return (await bench.client.get(job_id)).record


async def _events(bench: Bench, job_id: str) -> list[Event]:
    return [event.record for event in await bench.client.history(job_id)]
