"""The policy gate of dispatch: nothing is claimed without a verdict, and the verdict is on the record."""

from detent.testing.contract.bench import Bench, Contract, fence, refused, scenario


class Verdicts(Contract):
    @scenario("DSP-03")
    async def test_job_without_a_verdict_cannot_be_claimed(self, bench: Bench) -> None:
        await bench.client.enqueue("scan", lifecycle="dispatch")
        bench.clock.pass_s(3_600)

        assert await bench.client.claim(worker="w1") == []

    @scenario("DSP-03")
    async def test_allowed_job_can_be_claimed_at_once(self, bench: Bench) -> None:
        job = await bench.client.enqueue("scan", lifecycle="dispatch")
        scheduled = await bench.client.schedule(job.id, verdict="allow", rule="small")
        (claimed,) = await bench.client.claim(worker="w1")

        assert (scheduled.verdict, scheduled.rule) == ("allow", "small")
        assert (claimed.id, claimed.state) == (job.id, "DISPATCHED")
        assert (await bench.client.history(job.id))[1].payload == {"verdict": "allow", "rule": "small"}

    @scenario("DSP-03")
    async def test_throttled_job_waits_for_its_delay(self, bench: Bench) -> None:
        job = await bench.client.enqueue("scan", lifecycle="dispatch")
        await bench.client.schedule(job.id, verdict="throttle", rule="busy", delay_s=10)
        early = await bench.client.claim(worker="w1")
        bench.clock.pass_s(10)

        assert early == []
        assert [claimed.id for claimed in await bench.client.claim(worker="w1")] == [job.id]

    @scenario("DSP-03")
    async def test_held_job_waits_for_an_operator(self, bench: Bench) -> None:
        client = bench.client
        job = await client.enqueue("scan", lifecycle="dispatch")
        await client.schedule(job.id, verdict="hold", rule="costly")
        bench.clock.pass_s(3_600)
        held = await client.claim(worker="w1")
        await refused(client.approve(job.id, role="scheduler"), "wrong_actor")
        approved = await client.approve(job.id, actor="ada", role="operator")

        assert held == []
        assert (approved.verdict, approved.rule) == ("allow", "costly")
        assert [claimed.id for claimed in await client.claim(worker="w1")] == [job.id]
        assert (await client.history(job.id))[2].actor == "ada"

    @scenario("ALL-03")
    async def test_denied_job_ends_by_two_moves_in_one_change(self, bench: Bench) -> None:
        job = await bench.client.enqueue("scan", lifecycle="dispatch")
        denied = await bench.client.schedule(job.id, verdict="deny", rule="no-scans")

        assert (denied.state, denied.verdict, denied.rule, denied.rev) == ("DENIED", "deny", "no-scans", 3)
        assert await bench.verbs(job.id) == ["enqueue", "schedule", "deny"]
        assert await bench.client.claim(worker="w1") == []

    @scenario("DSP-05")
    async def test_same_verdict_again_is_granted_without_a_trace_and_another_is_refused(self, bench: Bench) -> None:
        job = await bench.client.enqueue("scan", lifecycle="dispatch")
        first = await bench.client.schedule(job.id, verdict="allow", rule="r")
        again = await bench.client.schedule(job.id, verdict="allow", rule="r")

        assert (again.answer, again.record) == ("unchanged", first.record)
        await refused(bench.client.schedule(job.id, verdict="hold", rule="r"), "illegal_move")

    @scenario("DSP-03", "ALL-03")
    async def test_result_for_a_dispatched_job_implies_its_start(self, bench: Bench) -> None:
        job = await bench.claimed("dispatch")
        done = await bench.client.complete(job.id, result=1, **fence(job))

        assert (done.state, done.rev) == ("SUCCEEDED", job.rev + 2)
        assert (await bench.verbs(job.id))[-2:] == ["start", "complete"]
