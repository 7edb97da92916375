"""A request sent twice: the same answer, one effect. Another request under its id: refused."""

from typing import Any, Final

from detent.client import Job
from detent.lifecycle import Policy
from detent.testing.contract.bench import PERMANENT, TRANSIENT, Bench, Contract, fence, refused, scenario

Case = tuple[str, str, dict[str, Any]]  # a lifecycle, a verb on its running job, and what the verb takes
ON_A_RUNNING_JOB: Final[tuple[Case, ...]] = (
    ("standard", "renew", {"checkpoint": 1}),
    ("standard", "complete", {"result": 1}),
    ("standard", "fail", {"error": TRANSIENT}),
    ("standard", "fail", {"error": PERMANENT}),
    ("standard", "release", {}),
    ("standard", "progress", {"fraction": 0.5}),
    ("standard", "artifact", {"name": "page", "pointer": "s3://made/page"}),
    ("standard", "cancel", {"mode": "hard"}),
    ("standard", "request_cancel", {"role": "client"}),
    ("standard", "dead_letter", {"reason_code": "parse_error"}),
    ("standard", "retry", {"role": "scheduler", "worker": None}),
    ("contract", "stall", {}),
    ("contract", "complete", {}),
    ("document", "release", {}),
    ("engine", "fail", {"error": PERMANENT}),
    ("dispatch", "complete", {"result_ptr": "s3://x"}),
)


class Repeats(Contract):
    @scenario("ALL-05", "ALL-04", "CON-04")
    async def test_repeat_of_a_verb_answers_with_the_job_as_it_is_and_changes_nothing(self, bench: Bench) -> None:
        for number, (lifecycle, verb, given) in enumerate(ON_A_RUNNING_JOB):
            job = await bench.running(lifecycle, queue=f"q{number}")
            call = getattr(bench.client, verb)
            asked = {**fence(job), **given, "request_id": "r1"}
            first = await call(job.id, **asked)
            before = await bench.told()
            again = await call(job.id, **asked)

            assert (first.answer, again.answer) in {("applied", "repeat"), ("noted", "repeat")}, verb
            assert again.record == first.record
            assert await bench.told() == before
            await refused(call(job.id, **asked | {"reason": "another"}), "request_conflict")
            assert await bench.told() == before

    @scenario("ALL-05")
    async def test_repeat_of_start_submit_schedule_approve_and_requeue_changes_nothing(self, bench: Bench) -> None:
        client = bench.client
        held = await bench.claimed(queue="a")
        created = await client.enqueue("scan", lifecycle="document", queue="b")
        pending = await client.enqueue("scan", lifecycle="dispatch", queue="c")
        stalled = await bench.claimed("contract", queue="d")
        stalled = await client.stall(stalled.id, **fence(stalled))
        for job_id, verb, given in (
            (held.id, "start", fence(held)),
            (created.id, "submit", {}),
            (pending.id, "schedule", {"verdict": "hold", "rule": "r"}),
            (pending.id, "approve", {}),
            (pending.id, "deny", {}),
            (stalled.id, "requeue", {"role": "operator", "expected_rev": stalled.rev}),
        ):
            asked = {**given, "request_id": f"{verb}-1"}
            first = await getattr(client, verb)(job_id, **asked)
            before = await bench.told()
            again = await getattr(client, verb)(job_id, **asked)

            assert (first.answer, again.answer) == ("applied", "repeat"), verb
            assert await bench.told() == before

    @scenario("ALL-05")
    async def test_repeat_shows_the_job_as_it_is_now(self, bench: Bench) -> None:
        job = await bench.running()
        await bench.client.renew(job.id, request_id="r1", worker="w1", attempt=1)
        done = await bench.client.complete(job.id, worker="w1", attempt=1)

        again = await bench.client.renew(job.id, request_id="r1", worker="w1", attempt=1, expected_rev=99)
        assert again.record == done.record

    @scenario("ALL-05")
    async def test_repeated_enqueue_makes_one_job(self, bench: Bench) -> None:
        first = await bench.client.enqueue("scan", payload=1, request_id="r1")
        again = await bench.client.enqueue("scan", payload=1, request_id="r1")

        assert (again.id, again.answer, again.rev) == (first.id, "repeat", 1)
        assert len(await bench.told()) == 1
        await refused(bench.client.enqueue("scan", payload=2, request_id="r1"), "request_conflict")
        assert len(await bench.told()) == 1

    @scenario("ALL-05")
    async def test_repeat_of_somebody_else_is_a_repeat(self, bench: Bench) -> None:
        made = await bench.client.enqueue("scan", request_id="r1", actor="ann")
        again = await bench.client.enqueue("scan", request_id="r1", actor="ben")
        (taken,) = await bench.client.claim(worker="w1", request_id="c1", actor="ann")
        (held,) = await bench.client.claim(worker="w1", request_id="c1", actor="ben")
        first = await bench.client.cancel(made.id, request_id="r2", actor="ann")
        second = await bench.client.cancel(made.id, request_id="r2", actor="ben")

        assert (again.id, held.id) == (made.id, taken.id)
        assert [each.answer for each in (again, held, second)] == ["repeat"] * 3
        assert second.rev == first.rev

    @scenario("ALL-05", "ALL-10")
    async def test_repeated_rerun_makes_one_job(self, bench: Bench) -> None:
        job = await bench.succeeded()
        first = await bench.client.rerun(job.id, request_id="r1")
        again = await bench.client.rerun(job.id, request_id="r1")

        assert (again.id, again.answer) == (first.id, "repeat")
        assert len(await bench.told()) == 2

    @scenario("ALL-05", "STD-14")
    async def test_repeated_claim_returns_what_it_still_holds_and_no_more(self, bench: Bench) -> None:
        client = bench.client
        for number in range(4):
            await bench.ready(job_id=f"job-{number}")
            bench.clock.pass_s(1)
        asked: dict[str, Any] = {"worker": "w1", "limit": 3, "request_id": "c1"}
        first = await client.claim(**asked)
        again = await client.claim(**asked)
        await client.release(first[0].id, **fence(first[0]))
        (taken,) = await client.claim(worker="w2")
        (reclaimed,) = await client.claim(worker="w1")
        third = await client.claim(**asked)

        assert [job.id for job in again] == [job.id for job in first] == ["job-0", "job-1", "job-2"]
        assert {job.answer for job in again} == {"repeat"}
        assert {taken.id, reclaimed.id} == {"job-0", "job-3"}
        assert [job.id for job in third] == ["job-1", "job-2"]
        await refused(client.claim(**asked | {"limit": 2}), "request_conflict")

    @scenario("ALL-05")
    async def test_refusals_and_empty_claims_are_not_remembered(self, bench: Bench) -> None:
        client = bench.client
        assert await client.claim(worker="w1", request_id="c1") == []
        job = await bench.ready()
        await refused(client.start(job.id, worker="w1", attempt=1, request_id="r1"), "illegal_move")
        (claimed,) = await client.claim(worker="w1", request_id="c1")
        started = await client.start(job.id, worker="w1", attempt=1, request_id="r1")

        assert (claimed.id, claimed.answer) == (job.id, "applied")
        assert (started.state, started.answer) == ("running", "applied")

    @scenario("ALL-05")
    async def test_request_id_is_a_jobs_own_and_a_verbs_own(self, bench: Bench) -> None:
        """On a job it is unique for the job; of an enqueue or a claim for the verb; so these do not meet."""
        client = bench.client
        one = await client.enqueue("scan", request_id="r")
        two = await client.enqueue("scan", request_id="r2")
        claimed = await client.claim(worker="w1", limit=2, request_id="r")
        started = [await client.start(job.id, request_id="r", **fence(job)) for job in claimed]

        assert {job.id for job in claimed} == {one.id, two.id}
        assert [job.answer for job in started] == ["applied", "applied"]

    @scenario("ALL-05")
    async def test_request_is_forgotten_after_its_time_and_not_before(self, bench: Bench) -> None:
        client = bench.client
        policy = Policy(lease_s=2 * self.receipts_s, heartbeat_s=self.receipts_s, allow_unusual_lease=True)
        job = await bench.running(policy=policy)
        asked: dict[str, Any] = {"worker": "w1", "attempt": 1, "request_id": "r1"}
        first = await client.renew(job.id, **asked)
        bench.clock.pass_s(self.receipts_s - 1)
        repeat = await client.renew(job.id, **asked)
        bench.clock.pass_s(2)
        anew = await client.renew(job.id, **asked)

        assert isinstance(first, Job)
        assert [each.answer for each in (first, repeat, anew)] == ["applied", "repeat", "applied"]
        assert anew.rev == first.rev + 1
