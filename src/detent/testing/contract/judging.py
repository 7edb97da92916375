"""Jobs that wait for a verdict: they are found, the oldest first, and a rule may space those that it lets through."""

from typing import Any

from detent.kernel.clock import SECOND
from detent.kernel.command import Schedule
from detent.store import Reply, Request
from detent.testing.contract.bench import Bench, Contract, scenario


class Judging(Contract):
    @scenario("DSP-08")
    async def test_jobs_that_wait_for_a_verdict_are_found_the_oldest_first(self, bench: Bench) -> None:
        for name in ("a", "b", "c"):
            await bench.client.enqueue("scan", lifecycle="dispatch", job_id=name)
        await bench.client.enqueue("scan", lifecycle="document", job_id="document")
        await bench.client.enqueue("scan", job_id="standard")
        await bench.client.schedule("b", verdict="hold", rule="r")
        await bench.client.cancel("c")
        await bench.client.enqueue("scan", lifecycle="dispatch", job_id="d")

        assert await unjudged(bench) == ["a", "d"]

    @scenario("DSP-08")
    async def test_only_those_of_the_queues_kinds_and_tenant_asked_for_wait_for_this_gate(self, bench: Bench) -> None:
        given = {"a": ("q1", "scan"), "b": ("q2", "mail"), "c": ("q1", "mail"), "d": ("q3", "scan"), "e": ("q1", "x")}
        for name, (queue, kind) in given.items():
            await bench.client.enqueue(kind, lifecycle="dispatch", job_id=name, queue=queue)
        await bench.client.enqueue("scan", lifecycle="dispatch", job_id="f", queue="q1", tenant="other")

        assert await unjudged(bench, queues=["q2", "q1"], kinds=["mail", "scan"]) == ["a", "b", "c"]
        assert await unjudged(bench, queues=["q1"], kinds=["scan"], tenant="other") == ["f"]

    @scenario("DSP-08")
    async def test_pages_of_what_waits_for_a_verdict_go_on_where_the_last_ended(self, bench: Bench) -> None:
        for number in range(5):
            await bench.client.enqueue("scan", lifecycle="dispatch", job_id=f"j{number}", queue=f"q{number % 2}")
        queues = ["q0", "q1"]
        first = await bench.store.unjudged("default", queues, ["scan"], 2)
        second = await bench.store.unjudged("default", queues, ["scan"], 2, first.cursor)
        third = await bench.store.unjudged("default", queues, ["scan"], 2, second.cursor)

        assert [[job.id for job in page] for page in (first, second, third)] == [["j0", "j1"], ["j2", "j3"], ["j4"]]
        assert third.cursor is None

    @scenario("DSP-08")
    async def test_pace_of_a_rule_spaces_jobs_whoever_asks(self, bench: Bench) -> None:
        jobs = [await bench.client.enqueue("scan", lifecycle="dispatch", job_id=name) for name in "abc"]
        first = await bench.store.pace("default", "slow", 10 * SECOND, [verdict_on(job) for job in jobs[:2]])
        again = await bench.store.pace("default", "slow", 10 * SECOND, [verdict_on(job) for job in jobs])
        other = await bench.client.enqueue("scan", lifecycle="dispatch", job_id="d")
        apart = await bench.store.pace("default", "another", SECOND, [verdict_on(other, "another")])

        assert [delay_s(bench, reply) for reply in first] == [0, 10]
        assert [delay_s(bench, reply) for reply in again if isinstance(reply, Reply)][-1] == 20
        assert [delay_s(bench, reply) for reply in apart] == [0]

    @scenario("DSP-08")
    async def test_moments_of_a_rule_that_passed_unused_do_not_add_up(self, bench: Bench) -> None:
        for name in "abc":
            job = await bench.client.enqueue("scan", lifecycle="dispatch", job_id=name)
            (reply,) = await bench.store.pace("default", "slow", 10 * SECOND, [verdict_on(job)])
            bench.clock.pass_s(100)

            assert isinstance(reply, Reply)
            assert reply.job.claim_at == reply.job.updated_at

    @scenario("DSP-08")
    async def test_job_for_which_a_rate_has_no_moment_for_a_month_goes_on_waiting(self, bench: Bench) -> None:
        jobs = [await bench.client.enqueue("scan", lifecycle="dispatch", job_id=name) for name in "abc"]
        replies = await bench.store.pace("default", "slow", 20 * 86_400 * SECOND, [verdict_on(job) for job in jobs])

        assert len(replies) == 2
        assert await unjudged(bench) == ["c"]


def verdict_on(job: Any, rule: str = "slow") -> Request:
    return Request(job.tenant, job.id, Schedule(verdict="throttle", rule=rule, role="scheduler", expected_rev=job.rev))


def delay_s(bench: Bench, reply: Any) -> float:
    assert reply.job.verdict == "throttle"
    return float((reply.job.claim_at - reply.job.updated_at) / SECOND)


async def unjudged(bench: Bench, *, queues: Any = ("default",), kinds: Any = ("scan",), tenant: str = "default") -> Any:
    return [job.id for job in await bench.store.unjudged(tenant, queues, kinds, 10)]
