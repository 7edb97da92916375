"""One owner at a time: fences, leases that ran out, workers that come back too late, and the count of attempts."""

import asyncio
from typing import Any

from detent.client import Job
from detent.testing.contract.bench import PERMANENT, TRANSIENT, Bench, Contract, fence, refused, scenario


class Fences(Contract):
    @scenario("ALL-01", "ALL-07")
    async def test_only_the_owner_may_use_owner_verbs(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.running()
        before = await bench.told()

        await refused(client.renew(job.id, worker="w2", attempt=1), "not_owner")
        await refused(client.release(job.id, worker="w2", attempt=1), "not_owner")
        await refused(client.progress(job.id, 0.5, worker="w2", attempt=1), "not_owner")
        assert await bench.told() == before

    @scenario("ALL-07")
    async def test_worker_with_expired_lease_cannot_finish_job(self, bench: Bench) -> None:
        job = await bench.running()
        bench.clock.pass_s(60)

        await refused(bench.client.complete(job.id, result=1, **fence(job)), "lease_expired")
        assert (await bench.client.get(job.id)).state == "running"

    @scenario("ALL-07")
    async def test_lease_is_live_until_its_end_and_a_renewal_extends_it(self, bench: Bench) -> None:
        job = await bench.running()
        bench.clock.pass_s(59.999_999)
        renewed = await bench.client.renew(job.id, **fence(job))
        bench.clock.pass_s(59.999_999)

        done = await bench.client.complete(job.id, **fence(renewed))
        assert done.state == "succeeded"

    @scenario("ALL-07")
    async def test_restarted_worker_of_the_same_name_cannot_finish_the_older_attempt(self, bench: Bench) -> None:
        client = bench.client
        old = await bench.running(worker="w1")
        await client.release(old.id, **fence(old))
        (new,) = await client.claim(worker="w1", start=True)

        await refused(client.complete(old.id, worker="w1"), "fence_required")
        await refused(client.complete(old.id, worker="w1", attempt=1), "not_owner")
        done = await client.complete(new.id, worker="w1", attempt=2)
        assert (done.state, done.attempt) == ("succeeded", 2)

    @scenario("ALL-07", "DSP-06")
    async def test_late_result_is_refused_and_kept_as_a_note(self, bench: Bench) -> None:
        client = bench.client
        old = await bench.running(worker="w1")
        await client.release(old.id, **fence(old))
        await client.claim(worker="w2", start=True)
        await refused(client.complete(old.id, result={"text": "late"}, worker="w1", attempt=1), "not_owner")
        await refused(client.fail(old.id, error=PERMANENT, worker="w1", attempt=1), "not_owner")

        result, failure = await client.notes(old.id)
        assert (result.kind, result.actor, result.payload["attempt"]) == ("late_result", "w1", 1)
        assert result.payload["result"] == b'{"text":"late"}'
        assert failure.payload["error"]["message"] == "never"
        assert (await client.get(old.id)).owner == "w2"

    @scenario("ALL-07")
    async def test_late_result_is_cut_to_size(self, bench: Bench) -> None:
        job = await bench.succeeded()
        await refused(bench.client.complete(job.id, result="x" * 100_000, worker="w1", attempt=1), "illegal_move")

        (note,) = await bench.client.notes(job.id)
        assert len(note.payload["result"]) <= 4_096
        assert note.payload["is_whole"] is False

    @scenario("ALL-07")
    async def test_job_keeps_a_bounded_number_of_late_results(self, bench: Bench) -> None:
        job = await bench.succeeded()
        late: dict[str, Any] = {"job_id": job.id, "worker": "w1", "attempt": 1}
        await bench.client.complete_many([late] * (self.notes_max + 5))
        await refused(bench.client.complete(**late), "illegal_move")

        assert len(await bench.client.notes(job.id)) == self.notes_max

    @scenario("ALL-01", "ALL-03")
    async def test_of_two_that_finish_the_same_attempt_one_does(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.running()
        answers = await asyncio.gather(
            client.complete(job.id, result=1, **fence(job)),
            client.fail(job.id, error=PERMANENT, **fence(job)),
            client.complete(job.id, result=3, **fence(job)),
            return_exceptions=True,
        )

        assert sum(isinstance(answer, Job) for answer in answers) == 1
        assert len(await client.history(job.id)) == job.rev + 1

    @scenario("ALL-08", "CON-05")
    async def test_attempt_counts_claims_and_nothing_else(self, bench: Bench) -> None:
        client = bench.client
        made = await bench.ready()
        (first,) = await client.claim(worker="w1")
        started = await client.start(first.id, **fence(first))
        renewed = await client.renew(first.id, **fence(started))
        failed = await client.fail(first.id, error=TRANSIENT, **fence(renewed))
        bench.clock.pass_s(60)
        (second,) = await client.claim(worker="w2")
        bench.clock.pass_s(60)
        await client.reconcile()
        (third,) = await client.claim(worker="w3")

        attempts = [job.attempt for job in (made, first, started, renewed, failed, second, third)]
        assert attempts == [0, 1, 1, 1, 1, 2, 3]

    @scenario("ALL-01", "ALL-09")
    async def test_owner_and_lease_are_there_exactly_while_it_is_leased(self, bench: Bench) -> None:
        client = bench.client
        queued = await bench.ready()
        (held,) = await client.claim(worker="w1")
        given_back = await client.release(held.id, checkpoint={"page": 2}, **fence(held))

        assert (queued.owner, queued.lease_expires_at) == (None, None)
        assert held.owner == "w1"
        assert held.lease_expires_at is not None
        assert (given_back.owner, given_back.lease_expires_at, given_back.last_owner) == (None, None, "w1")
        assert given_back.checkpoint == {"page": 2}
