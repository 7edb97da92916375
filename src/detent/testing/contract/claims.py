"""Which jobs a claim gets: those that are due, of its queues, kinds and adapters, in the queue's order, each once."""

import asyncio
from datetime import timedelta
from typing import Any

from detent.client.moments import to_moment
from detent.kernel.command import Claim
from detent.store import ClaimRequest, Reply
from detent.testing.contract.bench import Bench, Contract, refused, scenario


async def made(bench: Bench, *names: str, **fields: Any) -> None:
    """Jobs of these ids, a second apart."""
    for name in names:
        await bench.ready(**{"job_id": name, **fields})
        bench.clock.pass_s(1)


async def taken(bench: Bench, **how: Any) -> list[str]:
    return [job.id for job in await bench.client.claim(**{"worker": "w1", "limit": 100, **how})]


class Claims(Contract):
    @scenario("STD-14")
    async def test_first_come_is_first_served_up_to_the_limit(self, bench: Bench) -> None:
        await made(bench, "a", "b", "c")

        assert await taken(bench, limit=2) == ["a", "b"]
        assert await taken(bench, limit=2) == ["c"]
        assert await taken(bench, limit=2) == []

    @scenario("DSP-04")
    async def test_higher_priority_goes_first_and_lower_ages(self, bench: Bench) -> None:
        await made(bench, "old batch", priority=0)
        bench.clock.pass_s(60)
        await made(bench, "batch", priority=0)
        await made(bench, "urgent", priority=1)
        await made(bench, "critical", priority=10)
        await made(bench, "least", priority=-1)

        assert await taken(bench) == ["critical", "old batch", "urgent", "batch", "least"]

    @scenario("ALL-13")
    async def test_no_job_is_claimed_before_it_is_due(self, bench: Bench) -> None:
        now = to_moment(bench.clock())
        await bench.ready(job_id="delayed", delay_s=10)
        await bench.ready(job_id="later", run_at=now + timedelta(seconds=20))
        await bench.ready(job_id="both", run_at=now + timedelta(seconds=5), delay_s=30)

        bench.clock.pass_s(9.999_999)
        assert await taken(bench) == []
        bench.clock.pass_s(0.000_001)
        assert await taken(bench) == ["delayed"]
        bench.clock.pass_s(10)
        assert await taken(bench) == ["later"]
        bench.clock.pass_s(10)
        assert await taken(bench) == ["both"]

    @scenario("ALL-13")
    async def test_job_that_becomes_due_takes_its_place_by_when_it_was_due(self, bench: Bench) -> None:
        await made(bench, "late", delay_s=10)
        await made(bench, "soon", delay_s=2)
        bench.clock.pass_s(5)
        await made(bench, "now")
        bench.clock.pass_s(60)

        assert await taken(bench) == ["soon", "now", "late"]

    @scenario("STD-14")
    async def test_queues_are_apart_and_several_are_merged_in_order(self, bench: Bench) -> None:
        for name, queue in (("a1", "a"), ("b1", "b"), ("a2", "a"), ("c1", "c"), ("b2", "b"), ("a3", "a")):
            await made(bench, name, queue=queue)

        assert await taken(bench) == []
        assert await taken(bench, queues=["c"]) == ["c1"]
        assert await taken(bench, queues=["b", "a", "b"], limit=4) == ["a1", "b1", "a2", "b2"]
        assert await taken(bench, queues=["b", "a"]) == ["a3"]

    @scenario("STD-14")
    async def test_claim_takes_only_the_kinds_it_names(self, bench: Bench) -> None:
        for name, kind in (("s1", "scan"), ("p1", "print"), ("m1", "mail"), ("s2", "scan")):
            await made(bench, name, kind=kind)

        assert await taken(bench, kinds=["mail", "scan"]) == ["s1", "m1", "s2"]
        assert await taken(bench) == ["p1"]

    @scenario("DSP-12")
    async def test_lane_that_is_spared_is_left_to_a_worker_that_has_its_adapter(self, bench: Bench) -> None:
        for name, kind, adapter in (("gpu", "scan", "gpu"), ("any", "scan", None), ("mail", "mail", "gpu")):
            await made(bench, name, kind=kind, adapter_id=adapter)
        command = Claim(worker="w1")
        request = ClaimRequest("default", command, limit=10, spared=frozenset({("default", "scan", "gpu")}))
        replies = await bench.store.claim(request)

        assert [reply.job.id for reply in replies if isinstance(reply, Reply)] == ["any", "mail"]
        assert await taken(bench, adapters=["gpu"]) == ["gpu"]

    @scenario("DSP-12")
    async def test_job_that_names_an_adapter_goes_to_a_worker_that_has_it(self, bench: Bench) -> None:
        await made(bench, "gpu", adapter_id="gpu")
        await made(bench, "any")
        await made(bench, "tpu", adapter_id="tpu")

        assert await taken(bench, adapters=["cpu"]) == ["any"]
        assert await taken(bench, adapters=["cpu", "tpu"]) == ["tpu"]
        assert await taken(bench) == ["gpu"]

    @scenario("STD-14", "ALL-03")
    async def test_claim_may_start_what_it_takes(self, bench: Bench) -> None:
        for name, state in (("standard", "running"), ("document", "RUNNING"), ("dispatch", "RUNNING")):
            await bench.ready(name)
            (job,) = await bench.client.claim(worker="w1", start=True)

            assert (job.state, job.started_at) == (state, to_moment(bench.clock()))
            assert await bench.client.get(job.id) == job

    @scenario("CON-08")
    async def test_claim_may_ask_for_a_lease_of_its_own(self, bench: Bench) -> None:
        await bench.ready()
        (job,) = await bench.client.claim(worker="w1", lease_s=90)

        assert job.lease_expires_at == to_moment(bench.clock() + 90_000_000)
        await refused(bench.client.claim(worker="w1", lease_s=5), "lease_out_of_range")

    @scenario("DSP-03")
    async def test_claim_passes_over_jobs_that_are_not_for_its_role(self, bench: Bench) -> None:
        await made(bench, "standard")
        await made(bench, "dispatch", lifecycle="dispatch")

        assert await taken(bench, role="scheduler", limit=1) == ["dispatch"]

    @scenario("STD-15", "ALL-01")
    async def test_sixty_four_claimers_at_once_never_share_a_job(self, bench: Bench) -> None:
        await bench.client.enqueue_many([{"kind": "scan"}] * 100)
        claims = [bench.client.claim(worker=f"w{number}", limit=2) for number in range(64)]
        claimed = [job for jobs in await asyncio.gather(*claims) for job in jobs]

        assert len(claimed) == len({job.id for job in claimed}) == 100
        assert {job.attempt for job in claimed} == {1}
