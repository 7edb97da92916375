"""Many requests in one transaction, each with its own verdict; and queues that may hold only so many."""

from detent.client import Job
from detent.errors import DetentError
from detent.lifecycles import BUILT_IN
from detent.store import Reply
from detent.testing.contract.bench import PERMANENT, Bench, Contract, allowed, fence, is_refused, refused, scenario


def verdicts(answers: list[Job | DetentError]) -> list[str]:
    return [answer.answer if isinstance(answer, Job) else answer.code for answer in answers]


class Batches(Contract):
    @scenario("ALL-02", "ALL-03")
    async def test_each_item_of_a_batch_has_its_own_verdict_in_its_place(self, bench: Bench) -> None:
        running = [await bench.running(job_id=f"job-{number}") for number in range(3)]
        items = [
            {"job_id": running[0].id, "result": 0, **fence(running[0])},
            {"job_id": "nobody", "worker": "w1", "attempt": 1},
            {"job_id": running[1].id, "worker": "w2", "attempt": 1},
            {"job_id": running[2].id, "result": 2, "worker": "w1"},
            {"job_id": running[2].id, "result": 2, **fence(running[2])},
        ]
        answers = await bench.client.complete_many(items)

        assert verdicts(answers) == ["applied", "not_found", "not_owner", "fence_required", "applied"]
        states = [(await bench.client.get(job.id)).state for job in running]
        assert states == ["succeeded", "running", "succeeded"]

    @scenario("ALL-03", "ALL-04")
    async def test_same_job_twice_in_a_batch_sees_what_the_first_did(self, bench: Bench) -> None:
        job = await bench.running()
        item = {"job_id": job.id, "worker": "w1", "attempt": 1}
        renewed = await bench.client.renew_many([item, item, item])
        done = await bench.client.complete_many([item | {"result": 1}, item | {"result": 2}])
        ended = await bench.client.get(job.id)

        assert [each.rev for each in renewed if isinstance(each, Job)] == [job.rev + 1, job.rev + 2, job.rev + 3]
        assert verdicts(done) == ["applied", "illegal_move"]
        assert (ended.result, ended.rev) == (1, job.rev + 4)
        assert len(await bench.client.history(job.id)) == ended.rev

    @scenario("ALL-05")
    async def test_same_request_twice_in_a_batch_has_one_effect(self, bench: Bench) -> None:
        made = await bench.client.enqueue_many([{"kind": "scan", "request_id": "r"}] * 2)
        other = await bench.client.enqueue_many([{"kind": "print", "request_id": "r"}])
        (job,) = await bench.client.claim(worker="w1")
        item = {"job_id": job.id, "worker": "w1", "attempt": 1, "request_id": "s"}
        started = await bench.client.start_many([item, item])

        assert verdicts(made) == ["applied", "repeat"]
        assert verdicts(other) == ["request_conflict"]
        assert verdicts(started) == ["applied", "repeat"]
        assert len(await bench.client.history(job.id)) == 3

    @scenario("CON-07")
    async def test_batch_of_enqueues_sees_its_own_ids_and_dedupe_keys(self, bench: Bench) -> None:
        answers = await bench.client.enqueue_many(
            [
                {"kind": "scan", "job_id": "a", "dedupe_key": "k"},
                {"kind": "scan", "job_id": "b", "dedupe_key": "k"},
                {"kind": "scan", "job_id": "a"},
                {"kind": "print", "job_id": "c", "dedupe_key": "k"},
            ]
        )

        assert verdicts(answers) == ["applied", "duplicate", "job_exists", "applied"]
        assert [story.job.id for story in await bench.told()] == ["a", "c"]

    @scenario("CON-07", "ALL-10")
    async def test_end_of_a_job_frees_its_key_for_the_rest_of_the_batch(self, bench: Bench) -> None:
        job = await bench.running(dedupe_key="k")
        answers = await bench.apply(
            ("complete", job.id, {"worker": "w1", "attempt": 1}),
            ("rerun", job.id, {"new_job_id": "again"}),
            ("rerun", job.id, {"new_job_id": "and-again"}),
        )

        replies = [reply for reply in answers if isinstance(reply, Reply)]
        assert [(reply.job.id, reply.answer) for reply in replies] == [
            (job.id, "applied"),
            ("again", "applied"),
            ("again", "duplicate"),
        ]

    @scenario("ALL-03")
    async def test_whole_life_can_be_one_batch(self, bench: Bench) -> None:
        pending = await bench.client.enqueue("scan", lifecycle="dispatch")
        fenced = {"worker": "w1", "attempt": 1}
        answers = await bench.apply(
            ("schedule", pending.id, {"verdict": "allow", "rule": "r"}),
            ("claim", pending.id, {"worker": "w1"}),
            ("progress", pending.id, fenced | {"progress": {"fraction": 0.5}}),
            ("complete", pending.id, fenced),
            ("cancel", pending.id, {"role": "operator"}),
        )

        assert is_refused(answers[-1], "illegal_move")
        assert await bench.verbs(pending.id) == ["enqueue", "schedule", "claim", "start", "complete"]
        assert [note.kind for note in await bench.client.notes(pending.id)] == ["progress"]

    @scenario("ALL-03")
    async def test_large_batch_is_applied_whole(self, bench: Bench) -> None:
        await bench.client.enqueue_many([{"kind": "scan", "job_id": f"job-{number:03}"} for number in range(300)])
        claimed = await bench.client.claim(worker="w1", limit=300, start=True)
        failed = await bench.client.fail_many([{"job_id": job.id, "error": PERMANENT, **fence(job)} for job in claimed])

        assert len(claimed) == 300
        assert set(verdicts(failed)) == {"applied"}
        assert (await bench.client.replay()).after == {("standard", "failed"): 300}

    @scenario("ALL-02")
    async def test_full_queue_refuses_until_there_is_room(self, bench: Bench) -> None:
        client = bench.client
        await client.limit_queue("default", depth_max=2)
        answers = await client.enqueue_many([{"kind": "scan"}] * 3)
        elsewhere = await client.enqueue("scan", queue="other")
        await client.claim(worker="w1")
        now_free = await client.enqueue("scan")
        await refused(client.enqueue("scan"), "queue_full")
        await client.limit_queue("default", depth_max=None)
        unlimited = await client.enqueue("scan")

        assert verdicts(answers) == ["applied", "applied", "queue_full"]
        assert [job.answer for job in (elsewhere, now_free, unlimited)] == ["applied"] * 3

    @scenario("ALL-02")
    async def test_full_queue_lets_jobs_be_made_that_do_not_wait_in_it_and_refuses_their_submission(
        self, bench: Bench
    ) -> None:
        client = bench.client
        await client.limit_queue("default", depth_max=1)
        one, other = [await client.enqueue("scan", lifecycle="document") for _ in range(2)]
        await client.submit(one.id)
        answer = await refused(client.submit(other.id), "queue_full")

        assert allowed(BUILT_IN["document"], answer)
        assert (await client.get(other.id)).state == "CREATED"

    @scenario("ALL-05", "CON-07")
    async def test_full_queue_still_answers_repeats_and_twins(self, bench: Bench) -> None:
        client = bench.client
        made = await client.enqueue("scan", request_id="r", dedupe_key="k")
        await client.limit_queue("default", depth_max=1)

        assert (await client.enqueue("scan", request_id="r", dedupe_key="k")).answer == "repeat"
        assert (await client.enqueue("scan", dedupe_key="k")).id == made.id
