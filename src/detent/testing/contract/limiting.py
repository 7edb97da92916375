"""Limits per key: how many jobs of a key are leased at once, and how many are claimed in a while."""

import asyncio
from typing import Any, Final

from detent.client import Job
from detent.errors import DetentError
from detent.lifecycle import Limit, Policy
from detent.testing.contract.bench import TRANSIENT, Bench, Contract, fence, scenario
from detent.testing.contract.claims import taken

ONE: Final = Policy(limit=Limit(concurrency_max=1))
TWO: Final = Policy(limit=Limit(concurrency_max=2))
THREE_A_MINUTE: Final = Policy(limit=Limit(rate_max=3, per_s=60))
WAITING: Final = 1_500  # more than a claim would look at one by one


async def ready(bench: Bench, *names: str, policy: Policy | None = ONE, **fields: Any) -> None:
    for name in names:
        await bench.ready(job_id=name, policy=policy, **fields)


async def end(bench: Bench, job: Job) -> Job:
    return await bench.client.complete(job.id, **fence(job))


class Limiting(Contract):
    @scenario("STD-14")
    async def test_no_more_jobs_of_a_key_are_leased_than_its_limit(self, bench: Bench) -> None:
        await ready(bench, "a", "b", "c", policy=TWO, limit_key="k")
        held = await bench.client.claim(worker="w1", limit=10)

        assert [job.id for job in held] == ["a", "b"]
        assert await taken(bench) == []
        started = await bench.client.start("a", **fence(held[0]))
        assert await taken(bench) == []
        await end(bench, started)
        assert await taken(bench) == ["c"]

    @scenario("STD-14")
    async def test_claim_that_starts_counts_likewise(self, bench: Bench) -> None:
        await ready(bench, "a", "b", limit_key="k")
        held = await bench.client.claim(worker="w1", limit=10, start=True)

        assert [job.id for job in held] == ["a"]
        assert await bench.client.claim(worker="w2", limit=10, start=True) == []

    @scenario("STD-14")
    async def test_jobs_of_a_used_up_key_are_passed_over_and_keep_their_order(self, bench: Bench) -> None:
        for name, key in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("a3", "a"), ("b2", "b")):
            await ready(bench, name, limit_key=key)
        await ready(bench, "free", policy=None)
        held = await bench.client.claim(worker="w1", limit=10)

        assert [job.id for job in held] == ["a1", "b1", "free"]
        await end(bench, await bench.client.start("a1", **fence(held[0])))
        assert await taken(bench) == ["a2"]

    @scenario("STD-14")
    async def test_what_waits_behind_many_jobs_of_a_used_up_key_is_claimed(self, bench: Bench) -> None:
        asked = {"kind": "scan", "policy": ONE, "limit_key": "k"}
        for start in range(0, WAITING, 500):
            made = await bench.client.enqueue_many([asked | {"job_id": f"k{start + n}"} for n in range(500)])
            assert not any(isinstance(each, DetentError) for each in made)
        await ready(bench, "free", policy=None)
        await ready(bench, "other", limit_key="other")

        assert await taken(bench, limit=3) == ["k0", "free", "other"]
        await ready(bench, "next", policy=None)
        assert await taken(bench, limit=1) == ["next"]

    @scenario("STD-14")
    async def test_each_key_has_a_limit_of_its_own_and_each_tenant(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        await ready(bench, "a", limit_key="a")
        await ready(bench, "b", limit_key="b")
        await other.enqueue("scan", job_id="a", policy=ONE, limit_key="a")

        assert await taken(bench) == ["a", "b"]
        assert [job.id for job in await other.claim(worker="w1", limit=10)] == ["a"]

    @scenario("STD-14")
    async def test_kind_is_the_key_of_a_job_that_names_none(self, bench: Bench) -> None:
        await ready(bench, "a", "b")
        await ready(bench, "other", kind="print")

        assert await taken(bench) == ["a", "other"]
        assert (await bench.client.get("b")).limit_key == "scan"

    @scenario("STD-14")
    async def test_kinds_that_name_the_same_key_share_it_across_queues(self, bench: Bench) -> None:
        await ready(bench, "a", limit_key="k")
        await ready(bench, "b", kind="print", queue="mail", limit_key="k")

        assert await taken(bench) == ["a"]
        assert await taken(bench, queues=["mail"]) == []

    @scenario("STD-14")
    async def test_job_runs_beside_no_more_of_its_key_than_it_allows_itself(self, bench: Bench) -> None:
        await ready(bench, "any", policy=None, limit_key="k")
        await ready(bench, "two", policy=TWO, limit_key="k")
        await ready(bench, "one", limit_key="k")
        held = await bench.client.claim(worker="w1", limit=10)

        assert [job.id for job in held] == ["any", "two"]
        for job in held:
            await bench.client.release(job.id, **fence(job))
        await bench.client.cancel("any", mode="hard")
        await bench.client.cancel("two", mode="hard")
        assert await taken(bench) == ["one"]
        await ready(bench, "any2", policy=None, limit_key="k")
        assert await taken(bench) == []

    @scenario("STD-14", "STD-06")
    async def test_place_is_free_again_however_the_lease_ends(self, bench: Bench) -> None:
        await ready(bench, "a", "b", limit_key="k")
        job = await self._running(bench, "a")
        await bench.client.release("a", **fence(job))
        job = await self._running(bench, "a")
        await bench.client.fail("a", error=TRANSIENT, **fence(job))
        await self._running(bench, "b")
        bench.clock.pass_s(3_600)
        assert await taken(bench, worker="w2") == []
        await bench.client.reconcile()

        assert await taken(bench, worker="w2") == ["a"]

    @scenario("STD-14")
    async def test_no_more_are_claimed_in_a_while_than_the_rate_allows(self, bench: Bench) -> None:
        await ready(bench, *"abcdefg", policy=THREE_A_MINUTE, limit_key="k")
        assert await taken(bench, limit=2) == ["a", "b"]
        bench.clock.pass_s(20)
        assert await taken(bench) == ["c"]
        bench.clock.pass_s(39.999_999)
        assert await taken(bench) == []
        bench.clock.pass_s(0.000_001)

        assert await taken(bench) == ["d", "e"]
        bench.clock.pass_s(19)
        assert await taken(bench) == []
        bench.clock.pass_s(1)
        assert await taken(bench) == ["f"]

    @scenario("STD-14")
    async def test_claim_counts_for_the_rate_though_its_job_has_ended(self, bench: Bench) -> None:
        await ready(bench, *"abcd", policy=THREE_A_MINUTE)
        for name in "abc":
            await end(bench, await self._running(bench, name))

        assert await taken(bench) == []
        await ready(bench, "free", policy=None, kind="print")
        assert await taken(bench) == ["free"]
        bench.clock.pass_s(60)
        assert await taken(bench) == ["d"]

    @scenario("STD-14")
    async def test_rate_is_forgotten_only_when_it_says_nothing_any_more(self, bench: Bench) -> None:
        await ready(bench, *"abcd", policy=THREE_A_MINUTE)
        assert await taken(bench) == ["a", "b", "c"]
        bench.clock.pass_s(59)
        await bench.client.prune()

        assert await taken(bench) == []
        bench.clock.pass_s(1)
        await bench.client.prune()
        assert (await bench.store.key_use("default", "scan")).use.rate.bundles == ()
        assert await taken(bench) == ["d"]

    @scenario("STD-14", "ALL-01")
    async def test_repeated_claim_is_not_counted_again(self, bench: Bench) -> None:
        await ready(bench, *"abcd", policy=THREE_A_MINUTE)
        first = await bench.client.claim(worker="w1", limit=2, request_id="r")
        again = await bench.client.claim(worker="w1", limit=2, request_id="r")

        assert [job.id for job in again] == [job.id for job in first] == ["a", "b"]
        assert await taken(bench) == ["c"]

    @scenario("STD-14")
    async def test_claim_of_a_job_by_its_name_is_refused_when_the_limit_is_reached(self, bench: Bench) -> None:
        await ready(bench, "a", "b", limit_key="k")
        held = await bench.ask("claim", "a", worker="w1")
        refused = await bench.ask("claim", "b", worker="w2")
        let_go = ("release", "a", {"worker": "w1", "attempt": held.job.attempt})
        await bench.apply(let_go, ("claim", "b", {"worker": "w2"}))

        assert refused.code == "limit_reached"
        assert ((await bench.client.get("a")).owner, (await bench.client.get("b")).owner) == (None, "w2")

    @scenario("STD-14")
    async def test_claims_at_once_never_exceed_the_limit(self, bench: Bench) -> None:
        await ready(bench, *[f"j{n}" for n in range(40)], policy=TWO, limit_key="k")
        claims = [bench.client.claim(worker=f"w{n}", limit=3) for n in range(32)]
        held = [job for jobs in await asyncio.gather(*claims) for job in jobs]

        assert len(held) == 2
        assert await bench.client.count(phase="held") == {(): 2}

    @scenario("ALL-13")
    async def test_store_says_who_holds_a_key(self, bench: Bench) -> None:
        await ready(bench, "a", "b", "c", policy=TWO, limit_key="k")
        await bench.client.claim(worker="w1")
        bench.clock.pass_s(1)
        await bench.client.claim(worker="w2")
        report = await bench.store.key_use("default", "k")

        assert (report.use.leased, report.use.strictest) == (2, 2)
        assert report.holders == [("a", "w1"), ("b", "w2")]
        assert (await bench.store.key_use("other", "k")).holders == []

    async def _running(self, bench: Bench, name: str) -> Job:
        (job,) = await bench.client.claim(worker="w1", start=True)
        assert job.id == name
        return job
