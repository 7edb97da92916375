"""What is refused: without effect, for the first reason that applies, naming what is allowed."""

from typing import Any, Final

from detent.kernel.command import COMMANDS
from detent.lifecycles import BUILT_IN
from detent.testing.contract.bench import (
    PERMANENT,
    TRANSIENT,
    Bench,
    Contract,
    allowed,
    fence,
    is_refused,
    refused,
    scenario,
)

# What each verb cannot do without.
NEEDED: Final[dict[str, dict[str, Any]]] = {
    "schedule": {"verdict": "allow", "rule": "r"},
    "fail": {"error": PERMANENT},
    "progress": {"progress": {"fraction": 0.5}},
    "artifact": {"name": "page", "pointer": "s3://made/page"},
    "rerun": {"new_job_id": "new"},
}
ON_A_JOB: Final = sorted(set(COMMANDS) - {"enqueue", "claim"})


class Refusals(Contract):
    @scenario("ALL-02")
    async def test_undeclared_verb_changes_nothing_and_answers_with_what_is_allowed(self, bench: Bench) -> None:
        for name, lifecycle in BUILT_IN.items():
            made = await bench.client.enqueue("scan", lifecycle=name, queue=name)
            for job in (made, await bench.ready(name), await bench.claimed(name, queue=f"{name}-2")):
                before = await bench.told()
                undeclared = set(ON_A_JOB) - set(lifecycle.table.routes[job.state])
                for verb in sorted(undeclared):
                    answer = await bench.ask(verb, job.id, expected_rev=job.rev, **NEEDED.get(verb, {}))

                    if getattr(answer, "answer", None) != "unchanged":  # where repeats settle, what is so is granted
                        assert is_refused(answer, "illegal_move"), (name, job.state, verb, answer)
                        assert allowed(lifecycle, answer)
                assert await bench.told() == before

    @scenario("ALL-02", "ALL-10")
    async def test_no_verb_leaves_an_end(self, bench: Bench) -> None:
        for name in BUILT_IN:
            job = await bench.succeeded(name)
            before = await bench.told()
            for verb in sorted(set(ON_A_JOB) - {"rerun"}):
                answer = await bench.ask(verb, job.id, expected_rev=job.rev, role="operator", **NEEDED.get(verb, {}))

                assert is_refused(answer, "illegal_move"), (name, verb, answer)
                assert answer.allowed == ()
            assert await bench.told() == before

    @scenario("ALL-06")
    async def test_reasons_are_given_in_their_order(self, bench: Bench) -> None:
        """Each call is wrong in all the ways that the ones before it were mended of."""
        client = bench.client
        job = await bench.running(request_id="taken")
        await client.renew(job.id, worker="w1", attempt=1, request_id="taken")
        bench.clock.pass_s(61)
        before = await bench.told()

        await refused(client.submit(job.id, worker="w2", request_id="taken"), "request_conflict")
        await refused(client.submit(job.id, worker="w2"), "illegal_move")
        await refused(client.complete(job.id, role="client"), "wrong_actor")
        await refused(client.renew(job.id, worker="w2"), "fence_required")
        await refused(client.renew(job.id, worker="w2", attempt=9, expected_rev=1), "not_owner")
        await refused(client.renew(job.id, worker="w1", attempt=9, expected_rev=1), "not_owner")
        await refused(client.renew(job.id, worker="w1", attempt=1, expected_rev=1), "lease_expired")
        await refused(client.cancel(job.id, expected_rev=1), "stale_rev")
        assert await bench.told() == before

    @scenario("CON-02", "ALL-06")
    async def test_contract_wants_the_revision_on_every_verb(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.running("contract")
        before = await bench.told()

        await refused(client.complete(job.id, worker="w1", attempt=1), "rev_required")
        await refused(client.stall(job.id, role="reconciler"), "rev_required")
        await refused(client.complete(job.id, worker="w1", expected_rev=job.rev - 1), "stale_rev")
        assert await bench.told() == before

    @scenario("ALL-06", "ALL-03")
    async def test_of_two_decided_on_the_same_revision_one_is_applied(self, bench: Bench) -> None:
        job = await bench.running()
        renewed = await bench.client.renew(job.id, **fence(job))

        await refused(bench.client.fail(job.id, error=TRANSIENT, **fence(job)), "stale_rev")
        assert (await bench.client.get(job.id)).rev == renewed.rev

    @scenario("ALL-02")
    async def test_taken_id_is_refused_and_the_job_stays(self, bench: Bench) -> None:
        job = await bench.running(job_id="mine", payload=1)

        await refused(bench.client.enqueue("other", payload=2, job_id="mine"), "job_exists")
        assert await bench.client.get("mine") == job

    @scenario("ALL-02")
    async def test_nothing_moves_before_its_time(self, bench: Bench) -> None:
        client = bench.client
        held = await bench.claimed()
        before = await bench.told()

        await refused(client.expire(held.id, role="reconciler"), "not_due")
        assert await bench.told() == before

    @scenario("ALL-02")
    async def test_foreign_transaction_is_refused_and_nothing_is_written(self, bench: Bench) -> None:
        await refused(bench.client.enqueue("scan", tx=object()), "bad_transaction")

        assert await bench.told() == []
