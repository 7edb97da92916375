"""What a claim would take: told in its order, and left where it is."""

from datetime import timedelta
from typing import Any

from detent.client.moments import to_moment
from detent.kernel.command import Claim
from detent.store import ClaimRequest
from detent.testing.contract.bench import Bench, Contract, scenario
from detent.testing.contract.claims import made, taken
from detent.testing.contract.limiting import ONE


class Looking(Contract):
    @scenario("ENG-07")
    async def test_look_tells_what_a_claim_takes_in_its_order_and_takes_nothing(self, bench: Bench) -> None:
        await made(bench, "batch", priority=0)
        await made(bench, "least", priority=-1)
        await made(bench, "critical", priority=10)
        seen = await bench.client.get("critical")
        told = await looked(bench)

        assert told == ["critical", "batch", "least"]
        assert await looked(bench) == told
        assert (await bench.client.get("critical")).record == seen.record
        assert await taken(bench) == told
        assert await looked(bench) == []

    @scenario("ENG-07")
    async def test_look_is_at_what_is_due_of_queues_kinds_and_adapters_that_are_asked_for(self, bench: Bench) -> None:
        await bench.ready(job_id="mine", queue="q1", kind="scan")
        await bench.ready(job_id="of another queue", queue="q2", kind="scan")
        await bench.ready(job_id="of another kind", queue="q1", kind="mail")
        await bench.ready(job_id="for another adapter", queue="q1", kind="scan", adapter_id="gpu")
        later = to_moment(bench.clock()) + timedelta(seconds=20)
        await bench.ready(job_id="for later", queue="q1", kind="scan", run_at=later)
        asked = {"queues": ("q1",), "kinds": ("scan",)}

        assert await looked(bench, **asked, adapters=("none",)) == ["mine"]
        assert await looked(bench, **asked, adapters=("gpu",)) == ["mine", "for another adapter"]
        assert await looked(bench, **asked) == ["mine", "for another adapter"]
        spared = frozenset({("q1", "scan", "gpu")})
        assert await looked(bench, **asked, spared=spared) == ["mine"]
        bench.clock.pass_s(20)
        assert await looked(bench, **asked, adapters=("none",)) == ["mine", "for later"]

    @scenario("ENG-07")
    async def test_look_is_at_so_many_and_of_any_kind_if_none_is_named(self, bench: Bench) -> None:
        await made(bench, "a", kind="scan")
        await made(bench, "b", kind="mail")
        await made(bench, "c", kind="scan")

        assert await looked(bench, limit=2) == ["a", "b"]
        assert await looked(bench, queues=("none",)) == []

    @scenario("ENG-07")
    async def test_look_passes_over_paused_queues_and_keys_that_are_used_up(self, bench: Bench) -> None:
        await made(bench, "at work", "waits for it", policy=ONE, limit_key="k")
        await made(bench, "free", queue="default")
        await made(bench, "paused", queue="slow")
        await bench.client.claim(worker="w1", limit=1)
        await bench.client.pause_queue("slow")

        assert await looked(bench, queues=("default", "slow")) == ["free"]

    @scenario("ALL-18")
    async def test_look_is_at_the_tenants_own_jobs(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        await bench.ready(job_id="ours")
        await other.enqueue("scan", job_id="theirs")

        assert await looked(bench) == ["ours"]
        assert await looked(bench, tenant="other") == ["theirs"]


async def looked(bench: Bench, **how: Any) -> list[str]:
    asked: dict[str, Any] = {"tenant": "default", "command": Claim(worker="w1"), "limit": 100, **how}
    return [job.id for job in await bench.store.claimable(ClaimRequest(**asked))]
