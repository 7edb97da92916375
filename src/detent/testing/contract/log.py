"""One event per mutation, in order, telling who and why; the store's clock; and the fold back to the record."""

from detent.client.moments import to_moment
from detent.kernel.job import FOLDED
from detent.lifecycles import BUILT_IN
from detent.testing.contract.bench import TRANSIENT, Bench, Contract, fence, scenario


class Log(Contract):
    @scenario("ALL-03", "ALL-04")
    async def test_each_mutation_is_one_event_and_one_step_of_rev(self, bench: Bench) -> None:
        for name in BUILT_IN:
            job = await bench.running(name)
            renewed = await bench.client.renew(job.id, **fence(job))
            done = await bench.client.complete(job.id, **fence(renewed))
            events = await bench.client.history(job.id)

            assert renewed.rev == job.rev + 1
            assert [event.rev for event in events] == list(range(1, done.rev + 1))
            assert [event.from_state for event in events] == [None, *(event.to_state for event in events[:-1])]
            assert [event.verb for event in events][-2:] == ["renew", "complete"]

    @scenario("ALL-03")
    async def test_claim_and_start_are_two_events_of_one_moment(self, bench: Bench) -> None:
        job = await bench.running()

        claimed, started = (await bench.client.history(job.id))[-2:]
        assert (claimed.verb, started.verb) == ("claim", "start")
        assert (claimed.rev, started.rev, claimed.at) == (2, 3, started.at)

    @scenario("ALL-11", "STD-12")
    async def test_event_tells_who_did_what_why_and_in_which_connection(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.ready(correlation_id="order-7", actor="shop")
        bench.clock.pass_s(2)
        await client.cancel(job.id, actor="ada", role="operator", reason="sold out", request_id="r1", trace_id="t1")

        enqueued, cancelled = await client.history(job.id)
        assert (enqueued.actor, enqueued.correlation_id) == ("shop", "order-7")
        assert (cancelled.actor, cancelled.role, cancelled.cause) == ("ada", "operator", "sold out")
        assert (cancelled.request_id, cancelled.trace_id, cancelled.correlation_id) == ("r1", "t1", "order-7")
        assert cancelled.at == to_moment(bench.clock())
        assert (cancelled.tenant, cancelled.job_id, cancelled.version) == ("default", job.id, 1)

    @scenario("ALL-11")
    async def test_job_without_a_correlation_id_has_its_own(self, bench: Bench) -> None:
        job = await bench.ready()

        (event,) = await bench.client.history(job.id)
        assert (job.correlation_id, event.correlation_id) == (job.id, job.id)

    @scenario("CON-04", "CON-06")
    async def test_contract_events_all_carry_a_request_id(self, bench: Bench) -> None:
        job = await bench.running("contract")
        stalled = await bench.client.stall(job.id, **fence(job))
        await bench.client.requeue(job.id, role="operator", expected_rev=stalled.rev)

        events = await bench.client.history(job.id)
        assert [event.verb for event in events] == ["enqueue", "claim", "start", "stall", "requeue"]
        assert [event.verb for event in events if not event.request_id] == []

    @scenario("ALL-13")
    async def test_the_stores_clock_decides_not_the_callers(self, bench: Bench) -> None:
        job = await bench.claimed()
        bench.clock.pass_s(20)
        renewed = await bench.client.renew(job.id, **fence(job))

        assert job.claimed_at == to_moment(bench.clock() - 20_000_000)
        assert renewed.lease_expires_at == to_moment(bench.clock() + 60_000_000)

    @scenario("ALL-13")
    async def test_event_is_never_earlier_than_the_one_before_it(self, bench: Bench) -> None:
        job = await bench.claimed()
        bench.clock.pass_s(-3_600)
        started = await bench.client.start(job.id, **fence(job))
        bench.clock.pass_s(-3_600)
        await bench.client.fail(job.id, error=TRANSIENT, **fence(started))

        times = [event.at for event in await bench.client.history(job.id)]
        assert times == sorted(times)
        assert started.updated_at == job.updated_at

    @scenario("ALL-15")
    async def test_log_folds_to_the_record_as_it_was_at_any_moment(self, bench: Bench) -> None:
        client, seen = bench.client, []
        for name in BUILT_IN:
            job = await bench.running(name, job_id=name, queue=name)
            seen.append((to_moment(bench.clock()), job))
            bench.clock.pass_s(5)
            job = await client.renew(name, checkpoint=[1], **fence(job))
            seen.append((to_moment(bench.clock()), job))
            bench.clock.pass_s(5)
            seen.append((to_moment(bench.clock() - 1), job))
            seen.append((to_moment(bench.clock()), await client.fail(name, error=TRANSIENT, **fence(job))))

        for moment, job in seen:
            columns = {name: getattr(job.record, name) for name in FOLDED}
            assert await client.state_at(job.id, moment) == columns

    @scenario("ALL-15")
    async def test_job_has_no_state_before_it_was_made(self, bench: Bench) -> None:
        job = await bench.ready()

        assert await bench.client.state_at(job.id, to_moment(bench.clock() - 1)) is None

    @scenario("ENG-08")
    async def test_period_replays_to_the_same_states(self, bench: Bench) -> None:
        first = await bench.running("engine")
        await bench.ready("engine")
        bench.clock.pass_s(10)
        since = to_moment(bench.clock())
        await bench.client.complete(first.id, **fence(first))
        until = to_moment(bench.clock())
        bench.clock.pass_s(10)
        await bench.running("engine", queue="other")

        period = await bench.client.replay(since=since, until=until)
        whole = await bench.client.replay()
        assert period.before == {("engine", "running"): 1, ("engine", "queued"): 1}
        assert period.after == {("engine", "completed"): 1, ("engine", "queued"): 1}
        assert (period.jobs, period.events) == (2, 1)
        assert whole.after == {("engine", "completed"): 1, ("engine", "queued"): 1, ("engine", "running"): 1}
        assert whole.is_same
