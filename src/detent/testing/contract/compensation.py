"""Work that is undone: the job that undoes it comes with the end of the other, in the same transaction, once."""

from typing import Any, Final

from detent.client import Job
from detent.lifecycle import Compensation, Policy, Retry
from detent.testing.contract.bench import PERMANENT, TRANSIENT, Bench, Contract, fence, refused, scenario

UNDO: Final = Compensation(kind="undo")
NEVER_AGAIN: Final = Policy(timeout_s=20, grace_s=5, retry=Retry.never(), compensate=UNDO)
ONCE: Final = Policy(retry=Retry.never())
CHAIN: Final = Policy(
    rerun_failed=True, retry=Retry(max_attempts=2, base_s=0, jitter=False), timeouts={"queued": 30}, compensate=UNDO
)


async def undoing(bench: Bench, job_id: str) -> list[Job]:
    """The jobs that are to undo a job, as its own log names them."""
    named = [(event.payload or {}).get("compensation_job_id") for event in await bench.client.history(job_id)]
    return [await bench.client.get(each) for each in named if each is not None]


async def children(bench: Bench, job_id: str) -> list[Job]:
    return (await bench.client.find(parent_job_id=job_id)).items


async def failed(bench: Bench, lifecycle: str = "standard", **fields: Any) -> Job:
    """A job that ran, failed for good, and is to be undone."""
    job = await bench.running(lifecycle, **{"policy": NEVER_AGAIN} | fields)
    return await bench.client.fail(job.id, error=PERMANENT, **fence(job))


class Compensations(Contract):
    @scenario("STD-19")
    async def test_failed_job_brings_the_job_that_undoes_it(self, bench: Bench) -> None:
        said: dict[str, Any] = {"payload": {"order": 7}, "correlation_id": "c", "workflow_id": "flow", "priority": 3}
        for lifecycle in ("standard", "dispatch", "engine", "contract", "document"):
            job = await failed(bench, lifecycle, queue=lifecycle, **said)

            (undo,) = await undoing(bench, job.id)
            assert (undo.kind, undo.lifecycle, undo.state, undo.queue) == ("undo", "standard", "queued", lifecycle)
            assert (undo.payload, undo.priority, undo.workflow_id) == ({"order": 7}, 3, "flow")
            assert (undo.parent_job_id, undo.correlation_id, undo.rerun_of) == (job.id, "c", None)
            assert (undo.policy.is_compensation, undo.policy.compensate) == (True, None)
            assert undo.created_at == job.ended_at
            assert await children(bench, job.id) == [undo]

    @scenario("STD-19")
    async def test_it_comes_whoever_ends_the_job(self, bench: Bench) -> None:
        client = bench.client
        job = {name: await bench.running(policy=NEVER_AGAIN) for name in ("cancel", "set aside", "stop", "give up")}
        await client.cancel(job["cancel"].id, mode="hard")
        await client.dead_letter(job["set aside"].id, reason_code="parse_error", actor="operator")
        await client.cancel(job["stop"].id)
        asked = await client.cancel(job["give up"].id)
        await client.cancel(asked.id, **fence(asked))
        bench.clock.pass_s(5)
        await client.reconcile()
        for each in job.values():
            assert len(await undoing(bench, each.id)) == 1

    @scenario("STD-19")
    async def test_it_comes_when_time_ends_the_job(self, bench: Bench) -> None:
        lost = await bench.running(policy=Policy(retry=Retry.never(), compensate=UNDO))
        late = [
            await bench.running(name, queue=name, policy=NEVER_AGAIN)
            for name in ("standard", "document", "dispatch", "engine")
        ]
        bench.clock.pass_s(60)
        await bench.client.reconcile()

        for each in (lost, *late):
            assert (await bench.client.get(each.id)).outcome == "failure"
            assert len(await undoing(bench, each.id)) == 1

    @scenario("STD-19")
    async def test_job_that_never_ran_or_succeeded_has_nothing_to_undo(self, bench: Bench) -> None:
        client = bench.client
        queued = await client.cancel((await bench.ready(policy=NEVER_AGAIN)).id)
        lost = await bench.claimed(policy=NEVER_AGAIN)
        bench.clock.pass_s(60)
        await client.reconcile()
        done = await bench.succeeded(policy=NEVER_AGAIN)

        assert [(await client.get(job.id)).state for job in (queued, lost, done)] == [
            "cancelled",
            "dead_lettered",
            "succeeded",
        ]
        assert [await children(bench, job.id) for job in (queued, lost, done)] == [[], [], []]

    @scenario("STD-19")
    async def test_job_that_is_tried_again_is_undone_after_the_last_time_only(self, bench: Bench) -> None:
        client = bench.client
        policy = Policy(retry=Retry(max_attempts=2, base_s=0), compensate=UNDO)
        first = await bench.running(policy=policy)
        back = await client.fail(first.id, error=TRANSIENT, **fence(first))
        before = await children(bench, first.id)
        (second,) = await client.claim(worker="w2", start=True)
        over = await client.fail(second.id, error=TRANSIENT, **fence(second))

        assert (back.state, before) == ("queued", [])
        assert over.state == "dead_lettered"
        assert len(await undoing(bench, first.id)) == 1

    @scenario("STD-19")
    async def test_success_of_the_compensation_is_noted_on_the_job(self, bench: Bench) -> None:
        client = bench.client
        job = await failed(bench)
        before = await client.notes(job.id)
        (undo,) = await client.claim(worker="w1", kinds=["undo"], start=True)
        await client.complete(undo.id, **fence(undo))

        (note,) = await client.notes(job.id)
        assert before == []
        assert (note.kind, note.type, note.payload) == ("compensated", "job_compensated", {"by_job_id": undo.id})
        assert (note.rev, (await client.get(job.id)).record) == (job.rev, job.record)

    @scenario("STD-19")
    async def test_compensation_that_is_used_up_is_a_dead_letter_of_that_reason(self, bench: Bench) -> None:
        client = bench.client
        declared = Compensation(kind="undo", policy=ONCE)
        ended = {}
        for how in ("fails", "fails for good", "is lost"):
            await failed(bench, policy=Policy(retry=Retry.never(), compensate=declared))
            (undo,) = await client.claim(worker="w1", start=True)
            if how == "is lost":
                bench.clock.pass_s(60)
                await client.reconcile()
            else:
                error = TRANSIENT if how == "fails" else PERMANENT
                await client.fail(undo.id, error=error, **fence(undo))
            ended[how] = await client.dead_letter_for(undo.id)

        assert {how: letter.reason_code for how, letter in ended.items()} == dict.fromkeys(ended, "compensation_failed")
        assert [await children(bench, letter.job.id) for letter in ended.values()] == [[], [], []]

    @scenario("STD-19")
    async def test_where_there_are_no_dead_letters_it_fails_with_that_reason(self, bench: Bench) -> None:
        client = bench.client
        for lifecycle in ("engine", "contract", "document"):
            declared = Compensation(kind="undo", lifecycle=lifecycle, queue=lifecycle, policy=ONCE)
            await failed(bench, policy=Policy(retry=Retry.never(), compensate=declared))
            (undo,) = await client.claim(worker="w1", queues=[lifecycle], start=True)
            ended = await client.fail(undo.id, error=TRANSIENT, **fence(undo))

            assert (ended.lifecycle, ended.outcome) == (lifecycle, "failure")
            assert ended.error is not None
            assert ended.error.reason_code == "compensation_failed"

    @scenario("STD-19", "DSP-07", "ENG-11")
    async def test_chain_of_reruns_is_undone_when_it_ends(self, bench: Bench) -> None:
        client = bench.client
        first = await bench.running("engine", policy=CHAIN)
        await client.fail(first.id, error=TRANSIENT, **fence(first))
        (second,) = await children(bench, first.id)
        await client.claim(worker="w1", start=True)
        over = await client.fail(second.id, error=TRANSIENT, worker="w1", attempt=1)

        assert (second.rerun_of, over.state) == (first.id, "failed")
        assert await undoing(bench, first.id) == []
        assert len(await undoing(bench, second.id)) == 1

    @scenario("STD-19")
    async def test_chain_whose_last_job_never_ran_is_undone_all_the_same(self, bench: Bench) -> None:
        client = bench.client
        first = await bench.running("engine", policy=CHAIN)
        await client.fail(first.id, error=TRANSIENT, **fence(first))
        (second,) = await children(bench, first.id)
        bench.clock.pass_s(30)
        await client.reconcile()

        assert (await client.get(second.id)).started_at is None
        assert len(await undoing(bench, second.id)) == 1

    @scenario("STD-19", "ALL-10")
    async def test_job_is_run_again_once_its_work_is_undone_and_not_before(self, bench: Bench) -> None:
        client = bench.client
        job = await failed(bench)
        (undo,) = await undoing(bench, job.id)
        await refused(client.rerun(job.id), "compensation_conflict")
        (taken,) = await client.claim(worker="w1", start=True)
        await refused(client.rerun(job.id), "compensation_conflict")
        await client.complete(taken.id, **fence(taken))
        again = await client.rerun(job.id)

        assert (taken.id, again.rerun_of, again.state) == (undo.id, job.id, "queued")
        await refused(client.rerun(undo.id), "compensation_conflict")

    @scenario("STD-19", "ALL-10")
    async def test_failed_compensation_that_is_run_again_undoes_the_same_job(self, bench: Bench) -> None:
        client = bench.client
        job = await failed(bench, policy=Policy(retry=Retry.never(), compensate=Compensation(kind="undo", policy=ONCE)))
        (first,) = await client.claim(worker="w1", start=True)
        dead = await client.fail(first.id, error=TRANSIENT, **fence(first))
        await refused(client.rerun(job.id), "compensation_conflict")
        second = await client.rerun(dead.id)
        (taken,) = await client.claim(worker="w1", start=True)
        await client.complete(taken.id, **fence(taken))

        assert (taken.id, second.rerun_of) == (second.id, first.id)
        assert [note.payload["by_job_id"] for note in await client.notes(job.id)] == [second.id]
        assert await client.notes(dead.id) == []
        await refused(client.rerun(dead.id), "compensation_conflict")

    @scenario("STD-19")
    async def test_it_waits_while_somebody_may_still_be_at_the_work(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.running(policy=NEVER_AGAIN)
        lease_ends = job.lease_expires_at
        bench.clock.pass_s(1)
        await client.cancel(job.id, mode="hard")
        (undo,) = await undoing(bench, job.id)
        own = await failed(bench)
        (at_once,) = await undoing(bench, own.id)

        assert (undo.run_at, undo.claim_at) == (lease_ends, lease_ends)
        assert (at_once.run_at, at_once.claim_at) == (None, own.ended_at)

    @scenario("STD-19", "ALL-05")
    async def test_repeat_of_what_ended_the_job_brings_no_second_one(self, bench: Bench) -> None:
        job = await bench.running(policy=NEVER_AGAIN)
        for _ in range(2):
            await bench.client.fail(job.id, error=PERMANENT, worker="w1", attempt=1, request_id="r")

        assert len(await children(bench, job.id)) == 1

    @scenario("STD-19")
    async def test_compensation_that_could_never_be_made_is_refused_with_its_job(self, bench: Bench) -> None:
        odd = Compensation(kind="undo", lifecycle="nowhere")
        late = Compensation(kind="undo", policy=Policy(timeouts={"elsewhere": 5}))
        made = await bench.client.enqueue_many(
            [
                {"kind": "scan", "policy": Policy(compensate=odd)},
                {"kind": "scan", "policy": Policy(compensate=late)},
                {"kind": "scan", "policy": NEVER_AGAIN},
            ]
        )

        assert [getattr(each, "code", "made") for each in made] == ["not_found", "unknown_state", "made"]

    @scenario("STD-19", "ALL-18")
    async def test_it_belongs_to_the_tenant_of_its_job(self, bench: Bench) -> None:
        acme = await bench.tenant("acme")
        await bench.running(job_id="7", queue="other")  # of the same id
        await acme.enqueue("scan", job_id="7", policy=NEVER_AGAIN)
        (job,) = await acme.claim(worker="w1", start=True)
        await acme.fail(job.id, error=PERMANENT, **fence(job))
        (undo,) = await acme.claim(worker="w1", start=True)
        await acme.complete(undo.id, **fence(undo))

        assert undo.tenant == "acme"
        assert [note.kind for note in await acme.notes("7")] == ["compensated"]
        assert await bench.client.notes("7") == []
