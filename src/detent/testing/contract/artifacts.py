"""What handlers make: registered by the owner alone, bounded, and final, partial or discarded as the job ends."""

from typing import Any, Final

from detent.client import Job
from detent.kernel.artifacts import ARTIFACTS_MAX
from detent.lifecycle import Policy, Retry
from detent.testing.contract.bench import PERMANENT, TRANSIENT, Bench, Contract, Fence, fence, refused, scenario

PAGE: Final[dict[str, Any]] = {"name": "page", "pointer": "s3://made/page"}


def owner(job: Job) -> dict[str, Any]:
    return {"worker": "w1", "attempt": job.attempt}


async def statuses(bench: Bench, job_id: str) -> list[str]:
    return [each.status for each in await bench.client.artifacts(job_id)]


async def emitting(bench: Bench, lifecycle: str = "standard", **fields: Any) -> Job:
    """A running job that has registered one artifact."""
    job = await bench.running(lifecycle, **fields)
    return await bench.client.artifact(job.id, **PAGE, **owner(job))


class Artifacts(Contract):
    @scenario("STD-22")
    async def test_artifact_is_kept_as_it_was_registered_and_moves_nothing(self, bench: Bench) -> None:
        job = await bench.running()
        bench.clock.pass_s(1)
        said: dict[str, Any] = {"pointer": "s3://b/../x?%00 漢字", "size": 2**60, "digest": "sha256:00ff"}
        answer = await bench.client.artifact(job.id, name="page-1", **said, **owner(job))

        (made,) = await bench.client.artifacts(job.id)
        assert (answer.answer, answer.rev, answer.record) == ("noted", job.rev, job.record)
        assert (made.job_id, made.name, made.pointer, made.size, made.digest) == (job.id, "page-1", *said.values())
        assert (made.status, made.attempt, made.worker) == ("partial", 1, "w1")
        assert (made.at - job.updated_at).total_seconds() == 1

    @scenario("STD-22")
    async def test_artifacts_of_the_attempt_that_succeeded_are_final(self, bench: Bench) -> None:
        client = bench.client
        for lifecycle in ("standard", "dispatch", "engine", "contract", "document"):
            job = await emitting(bench, lifecycle)
            before = await statuses(bench, job.id)
            await client.complete(job.id, **fence(job))

            assert (before, await statuses(bench, job.id)) == (["partial"], ["final"])

    @scenario("STD-22")
    async def test_artifacts_of_an_earlier_attempt_stay_partial(self, bench: Bench) -> None:
        client = bench.client
        first = await emitting(bench, policy=Policy(retry=Retry(base_s=0)))
        await client.fail(first.id, error=TRANSIENT, **fence(first))
        (second,) = await client.claim(worker="w1", start=True)
        await client.artifact(second.id, **PAGE, **owner(second))
        await client.complete(second.id, **fence(second))

        made = await client.artifacts(first.id)
        assert [(each.attempt, each.status) for each in made] == [(1, "partial"), (2, "final")]

    @scenario("STD-22")
    async def test_artifacts_of_a_job_that_did_not_succeed_stay_partial(self, bench: Bench) -> None:
        client = bench.client
        failed = await emitting(bench)
        await client.fail(failed.id, error=PERMANENT, **fence(failed))
        stopped = await emitting(bench)
        asked = await client.cancel(stopped.id)
        await client.cancel(stopped.id, **fence(asked))

        assert [await statuses(bench, job.id) for job in (failed, stopped)] == [["partial"], ["partial"]]

    @scenario("STD-22", "STD-08")
    async def test_hard_cancel_discards_what_every_attempt_has_made(self, bench: Bench) -> None:
        client = bench.client
        for lifecycle in ("standard", "dispatch", "engine", "document"):
            job = await emitting(bench, lifecycle, queue=lifecycle)
            await client.cancel(job.id, mode="hard")

            assert await statuses(bench, job.id) == ["discarded"]
            assert ((await client.history(job.id))[-1].payload or {})["mode"] == "hard"

    @scenario("STD-22", "STD-07")
    async def test_soft_cancel_that_outlasts_its_grace_turns_hard(self, bench: Bench) -> None:
        job = await emitting(bench)
        await bench.client.cancel(job.id)
        asked = await statuses(bench, job.id)
        bench.clock.pass_s(30)
        await bench.client.reconcile()

        assert (asked, await statuses(bench, job.id)) == (["partial"], ["discarded"])

    @scenario("STD-22", "ALL-07")
    async def test_only_the_owner_with_a_live_lease_registers(self, bench: Bench) -> None:
        client = bench.client
        queued = await bench.ready(queue="other")
        job = await bench.running()
        before = await bench.told()

        await refused(client.artifact(queued.id, **PAGE, worker="w1", attempt=0), "illegal_move")
        await refused(client.artifact(job.id, **PAGE, worker="w2", attempt=1), "not_owner")
        await refused(client.artifact(job.id, **PAGE, worker="w1", attempt=2), "not_owner")
        await refused(client.artifact(job.id, **PAGE, worker="w1"), "fence_required")
        bench.clock.pass_s(60)
        await refused(client.artifact(job.id, **PAGE, worker="w1", attempt=1), "lease_expired")
        assert await bench.told() == before

    @scenario("STD-22", "DSP-03")
    async def test_artifact_of_a_dispatched_job_implies_its_start(self, bench: Bench) -> None:
        job = await bench.claimed("dispatch")
        running = await bench.client.artifact(job.id, **PAGE, **owner(job))

        assert (running.state, running.rev) == ("RUNNING", job.rev + 1)
        assert await statuses(bench, job.id) == ["partial"]

    @scenario("STD-22", "ALL-05")
    async def test_what_is_registered_already_is_not_registered_again(self, bench: Bench) -> None:
        client = bench.client
        job = await emitting(bench)
        again = await client.artifact(job.id, **PAGE, **owner(job))
        for _ in range(2):
            await client.artifact(job.id, name="text", pointer="s3://made/text", **owner(job), request_id="r")
        await refused(
            client.artifact(job.id, name="text", pointer="s3://other", **owner(job), request_id="r"),
            "request_conflict",
        )

        assert again.answer == "unchanged"
        assert len(await client.notes(job.id)) == 2

    @scenario("STD-22")
    async def test_same_name_in_the_same_attempt_stands_as_it_was_said_last(self, bench: Bench) -> None:
        job = await emitting(bench)
        await bench.client.artifact(job.id, name="text", pointer="s3://made/text", **owner(job))
        await bench.client.artifact(job.id, name="page", pointer="s3://made/better", size=0, **owner(job))

        made = await bench.client.artifacts(job.id)
        assert [(each.name, each.pointer, each.size) for each in made] == [
            ("page", "s3://made/better", 0),
            ("text", "s3://made/text", None),
        ]

    @scenario("STD-22")
    async def test_job_has_a_bounded_number_of_artifacts_and_progress_takes_none_of_it(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.running()
        for _ in range(self.notes_max + 1):
            await client.progress(job.id, 0.5, **owner(job))
        await register(bench, job, range(ARTIFACTS_MAX - 1))
        last, beyond = await register(bench, job, range(ARTIFACTS_MAX - 1, ARTIFACTS_MAX + 1))
        again = await client.artifact(job.id, name="0", pointer="s3://made/0", **owner(job))

        assert (last, beyond, again.answer) == ("noted", "too_many_artifacts", "unchanged")
        assert [each.name for each in await client.artifacts(job.id)] == [str(n) for n in range(ARTIFACTS_MAX)]

    @scenario("STD-22", "STD-13")
    async def test_artifacts_outlast_progress(self, bench: Bench) -> None:
        client = bench.client
        job = await emitting(bench)
        await client.progress(job.id, 0.5, **owner(job))
        await client.complete(job.id, **fence(job))
        bench.clock.pass_s(self.verbose_s + 1)
        await client.prune()

        assert [note.kind for note in await client.notes(job.id)] == ["artifact"]
        assert await statuses(bench, job.id) == ["final"]


async def register(bench: Bench, job: Job, numbers: range) -> list[str]:
    """Many in one transaction: how each was answered."""
    fenced: Fence = fence(job)
    asked = [("artifact", job.id, {"name": str(n), "pointer": f"s3://made/{n}", **fenced}) for n in numbers]
    return [getattr(each, "answer", None) or each.code for each in await bench.apply(*asked)]  # type: ignore[union-attr]
