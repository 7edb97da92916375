"""New jobs that stand for others: reruns of ended ones, and the live job of a dedupe key."""

from typing import Any

from detent.kernel import parse
from detent.lifecycle import Policy, Retry
from detent.lifecycles import BUILT_IN, DISPATCH, ENGINE
from detent.store import Reply, Request
from detent.testing.contract.bench import PERMANENT, TRANSIENT, Bench, Contract, fence, refused, scenario


class Twins(Contract):
    @scenario("ALL-10", "DSP-07")
    async def test_rerun_makes_a_linked_job_with_the_same_policy(self, bench: Bench) -> None:
        for name in BUILT_IN:
            policy = BUILT_IN[name].policy(lease_s=45)
            old = await bench.succeeded(name, payload={"n": 1}, policy=policy, correlation_id="c", queue=name)
            new = await bench.client.rerun(old.id)

            assert (new.parent_job_id, new.rerun_of, new.policy) == (old.id, old.id, policy)
            assert (new.payload, new.correlation_id, new.attempt, new.queue) == ({"n": 1}, "c", 0, name)
            assert new.id != old.id
            assert await bench.client.get(old.id) == old
            assert await bench.client.get(new.id) == new

    @scenario("ALL-10")
    async def test_rerun_may_bring_another_payload_and_a_delay(self, bench: Bench) -> None:
        old = await bench.succeeded(payload=1)
        new = await bench.client.rerun(old.id, payload=2, delay_s=10)

        assert new.payload == 2
        assert await bench.client.claim(worker="w1") == []
        bench.clock.pass_s(10)
        (claimed,) = await bench.client.claim(worker="w1")
        assert claimed.id == new.id

    @scenario("ALL-10")
    async def test_rerun_of_a_job_not_ended_is_refused(self, bench: Bench) -> None:
        job = await bench.running()

        await refused(bench.client.rerun(job.id), "illegal_move")
        assert len(await bench.told()) == 1

    @scenario("ENG-11", "ALL-10")
    async def test_failed_job_is_run_again_in_the_same_change_where_the_policy_wants_it(self, bench: Bench) -> None:
        policy = ENGINE.policy(rerun_failed=True, retry=Retry(max_attempts=2, base_s=1, jitter=False))
        old = await bench.running("engine", policy=policy, dedupe_key="k")
        await bench.client.fail(old.id, error=TRANSIENT, **fence(old))
        (new,) = (await bench.client.find(parent_job_id=old.id)).items
        bench.clock.pass_s(1)
        (again,) = await bench.client.claim(worker="w1", start=True)
        await bench.client.fail(again.id, error=TRANSIENT, **fence(again))

        assert (new.rerun_of, new.retries, new.dedupe_key, again.id) == (old.id, 1, "k", new.id)
        assert len(await bench.told()) == 2  # the chain ends where one job's attempts would

    @scenario("ENG-11", "ALL-10")
    async def test_rerun_takes_over_the_dedupe_key_of_a_job_that_starts_and_fails_at_once(self, bench: Bench) -> None:
        """Two moves of the old job come before the first of the new one, which may have the key only then."""
        policy = DISPATCH.policy(rerun_failed=True, retry=Retry(max_attempts=2, base_s=1, jitter=False))
        old = await bench.claimed("dispatch", policy=policy, dedupe_key="k")
        await bench.client.fail(old.id, error=TRANSIENT, **fence(old))

        (new,) = (await bench.client.find(parent_job_id=old.id)).items
        assert (new.rerun_of, new.dedupe_key) == (old.id, "k")
        assert (await bench.client.enqueue("scan", lifecycle="dispatch", dedupe_key="k")).id == new.id

    @scenario("CON-07")
    async def test_dedupe_key_is_free_for_the_next_of_a_batch_once_its_job_has_ended(self, bench: Bench) -> None:
        first = await bench.client.enqueue("scan", dedupe_key="k")
        asked = {"kind": "scan", "tenant": "default", "queue": "default", "dedupe_key": "k", "payload": b"null"}
        second = Request("default", "second", parse("enqueue", {**asked, "job_id": "second"}), BUILT_IN["standard"])
        cancel = Request("default", first.id, parse("cancel", {"role": "operator"}))

        replies = await bench.store.apply([cancel, second])

        assert [type(reply) for reply in replies] == [Reply, Reply]
        assert (await bench.client.get("second")).dedupe_key == "k"

    @scenario("CON-07")
    async def test_dedupe_key_names_one_live_job_of_a_kind(self, bench: Bench) -> None:
        client = bench.client
        first = await client.enqueue("scan", payload=1, dedupe_key="k")
        second = await client.enqueue("scan", payload=2, dedupe_key="k")
        other_kind = await client.enqueue("print", dedupe_key="k")
        other_key = await client.enqueue("scan", dedupe_key="k2")

        assert (second.id, second.answer, second.payload, second.rev) == (first.id, "duplicate", 1, 1)
        assert len({first.id, other_kind.id, other_key.id}) == 3
        assert len(await bench.told()) == 3

    @scenario("CON-07")
    async def test_dedupe_key_is_free_when_its_job_has_ended(self, bench: Bench) -> None:
        client = bench.client
        ended = []
        for number in range(3):
            job = await bench.running(dedupe_key="k", job_id=f"job-{number}")
            assert (await client.enqueue("scan", dedupe_key="k")).id == job.id
            ended.append(job)
            if number == 0:
                await client.complete(job.id, **fence(job))
            elif number == 1:
                await client.fail(job.id, error=PERMANENT, **fence(job))
            else:
                await client.cancel(job.id, mode="hard")
        fresh = await client.enqueue("scan", dedupe_key="k")

        assert fresh.answer == "applied"
        assert fresh.id not in {job.id for job in ended}

    @scenario("CON-07", "ALL-10")
    async def test_rerun_with_a_live_twin_answers_with_the_twin(self, bench: Bench) -> None:
        old = await bench.succeeded(dedupe_key="k")
        twin = await bench.ready(dedupe_key="k")

        answer = await bench.client.rerun(old.id)
        assert (answer.id, answer.answer) == (twin.id, "duplicate")
        assert len(await bench.told()) == 2

    @scenario("CON-07", "ALL-05")
    async def test_request_answered_with_a_twin_is_answered_so_again(self, bench: Bench) -> None:
        client = bench.client
        twin = await bench.running(dedupe_key="k")
        first = await client.enqueue("scan", dedupe_key="k", request_id="r1")
        await client.complete(twin.id, **fence(twin))
        again = await client.enqueue("scan", dedupe_key="k", request_id="r1")

        assert (first.id, first.answer) == (twin.id, "duplicate")
        assert (again.id, again.answer, again.state) == (twin.id, "repeat", "succeeded")

    @scenario("DSP-05")
    async def test_dispatch_grants_the_same_job_again_without_a_trace(self, bench: Bench) -> None:
        asked: dict[str, Any] = {"kind": "scan", "payload": 1, "lifecycle": "dispatch", "job_id": "mine"}
        first = await bench.client.enqueue(**asked)
        again = await bench.client.enqueue(**asked)

        assert (again.answer, again.record) == ("unchanged", first.record)
        await refused(bench.client.enqueue(**asked | {"payload": 2}), "job_exists")

    @scenario("DSP-06")
    async def test_amendment_is_noted_where_the_policy_accepts_it(self, bench: Bench) -> None:
        job = await bench.succeeded("dispatch", policy=Policy(accept_amendments=True))
        amended = await bench.client.complete(job.id, result=2, worker="w1", attempt=1)

        (note,) = await bench.client.notes(job.id)
        assert (amended.answer, amended.rev, note.kind) == ("noted", job.rev, "amendment")
