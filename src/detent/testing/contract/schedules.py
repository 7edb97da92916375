"""The table of schedules: each tick is had by one, whoever else tries, and its job comes with it."""

import asyncio
from datetime import timedelta
from typing import Any

from detent.client.moments import to_moment
from detent.client.schedules import Schedule
from detent.store.fleet import SCHEDULES_MAX
from detent.testing.contract.bench import Bench, Contract, refused, scenario

HOUR = timedelta(hours=1)
TRIES = 20


async def kept(bench: Bench, name: str = "nightly", **more: Any) -> Schedule:
    """A schedule that is due an hour from now."""
    asked = {"name": name, "cron": "0 3 * * *", "kind": "report", "next_at": to_moment(bench.clock()) + HOUR}
    (schedule,) = await bench.client.keep_schedules([{**asked, **more}])
    return schedule


async def advanced(bench: Bench, schedule: Schedule, **more: Any) -> bool:
    """Whether the tick at which the schedule is, is ours."""
    tick = schedule.next_at
    return await bench.client.advance_schedule(schedule.name, expected=tick, next_at=tick + HOUR, **more)


async def only(bench: Bench) -> Schedule:
    (schedule,) = await bench.client.schedules()
    return schedule


class Schedules(Contract):
    @scenario()
    async def test_schedule_is_kept_as_it_is_brought(self, bench: Bench) -> None:
        first = await kept(bench, "a", zone="Europe/Berlin", payload={"pages": [1, 2]})
        second = await kept(bench, "b")

        assert await bench.client.schedules() == [first, second]
        assert (first.cron, first.zone, first.kind, first.payload) == (
            "0 3 * * *", "Europe/Berlin", "report", {"pages": [1, 2]},
        )  # fmt: skip
        assert (second.zone, second.payload, second.last_at, second.paused_at) == ("UTC", None, None, None)
        assert second.next_at == to_moment(bench.clock()) + HOUR

    @scenario()
    async def test_schedule_that_is_brought_again_goes_on_where_it_was(self, bench: Bench) -> None:
        first = await kept(bench, payload=1)
        await advanced(bench, first)
        bench.clock.pass_s(60)
        same = await kept(bench, payload=1)
        other = await kept(bench, payload=2, kind="another")

        assert [each.next_at for each in (same, other)] == [first.next_at + HOUR] * 2
        assert other.last_at == first.next_at
        assert (other.payload, other.kind) == (2, "another")

    @scenario()
    async def test_schedule_whose_time_has_changed_goes_on_from_what_it_brings(self, bench: Bench) -> None:
        first = await kept(bench)
        bench.clock.pass_s(600)
        for change in ({"cron": "30 4 * * *"}, {"zone": "Asia/Tokyo", "cron": "30 4 * * *"}):
            changed = await kept(bench, **change)

            assert changed.next_at == to_moment(bench.clock()) + HOUR
            assert changed == await only(bench)
            bench.clock.pass_s(600)
        assert first.next_at < changed.next_at

    @scenario("DOC-05")
    async def test_of_all_that_try_for_a_tick_one_has_it(self, bench: Bench) -> None:
        schedule = await kept(bench)
        tries = await asyncio.gather(*[advanced(bench, schedule) for _ in range(TRIES)])

        assert sorted(tries) == [False] * (TRIES - 1) + [True]
        after = await only(bench)
        assert (after.next_at, after.last_at) == (schedule.next_at + HOUR, schedule.next_at)
        assert not await advanced(bench, schedule)
        assert await advanced(bench, after)

    @scenario("DOC-05")
    async def test_job_of_a_tick_is_enqueued_once_however_many_try(self, bench: Bench) -> None:
        schedule = await kept(bench)
        job = {"kind": "report", "payload": {"month": 11}, "queue": "reports"}
        await asyncio.gather(*[advanced(bench, schedule, job=job) for _ in range(TRIES)])

        (made,) = (await bench.client.find()).items
        assert (made.kind, made.queue, made.payload, made.state) == ("report", "reports", {"month": 11}, "queued")
        assert await bench.verbs(made.id) == ["enqueue"]

    @scenario()
    async def test_job_that_is_refused_is_told_of_and_its_tick_is_over(self, bench: Bench) -> None:
        schedule = await kept(bench)
        await bench.client.limit_queue("reports", depth_max=0)
        await refused(advanced(bench, schedule, job={"kind": "report", "queue": "reports"}), "queue_full")

        assert (await bench.client.find()).items == []
        assert (await only(bench)).last_at == schedule.next_at

    @scenario()
    async def test_ticks_of_a_paused_schedule_pass_by(self, bench: Bench) -> None:
        schedule = await kept(bench)
        since = to_moment(bench.clock())
        await bench.client.pause_schedule("nightly", actor="ann", reason="month's end")
        bench.clock.pass_s(5)
        await bench.client.pause_schedule("nightly", actor="bob")
        had = await advanced(bench, schedule, job={"kind": "report"})
        paused = await only(bench)
        await bench.client.resume_schedule("nightly")
        resumed = await only(bench)

        assert not had
        assert (await bench.client.find()).items == []
        assert (paused.paused_at, paused.paused_by, paused.paused_reason) == (since, "ann", "month's end")
        assert (paused.next_at, paused.last_at) == (schedule.next_at + HOUR, None)
        assert (resumed.paused_at, resumed.paused_by, resumed.paused_reason) == (None, None, None)
        assert await advanced(bench, resumed, job={"kind": "report"})

    @scenario()
    async def test_resumed_schedule_does_not_go_back_to_a_tick_that_nobody_let_pass_by(self, bench: Bench) -> None:
        schedule = await kept(bench)
        await bench.client.pause_schedule("nightly")
        bench.clock.pass_s(7_200)
        await bench.client.resume_schedule("nightly")
        resumed = await only(bench)

        assert resumed.next_at == to_moment(bench.clock())
        assert not await advanced(bench, schedule, job={"kind": "report"})

    @scenario()
    async def test_schedule_that_was_not_paused_stays_where_it_is_when_it_is_resumed(self, bench: Bench) -> None:
        schedule = await kept(bench)
        bench.clock.pass_s(7_200)
        await bench.client.resume_schedule("nightly")

        assert (await only(bench)).next_at == schedule.next_at

    @scenario()
    async def test_schedule_stays_paused_when_it_is_brought_again(self, bench: Bench) -> None:
        await kept(bench)
        await bench.client.pause_schedule("nightly")

        assert (await kept(bench)).paused_at is not None
        assert (await kept(bench, cron="* * * * *")).paused_at is not None

    @scenario()
    async def test_schedule_that_is_removed_has_no_ticks(self, bench: Bench) -> None:
        schedule = await kept(bench)
        await bench.client.forget_schedule("nightly")

        assert not await advanced(bench, schedule, job={"kind": "report"})
        assert await bench.client.schedules() == []
        for ask in (bench.client.pause_schedule, bench.client.resume_schedule, bench.client.forget_schedule):
            await refused(ask("nightly"), "not_found")

    @scenario("ALL-18")
    async def test_schedules_keep_to_their_tenant(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        schedule = await kept(bench)
        for ask in (other.pause_schedule, other.resume_schedule, other.forget_schedule):
            await refused(ask("nightly"), "not_found")
        tick = schedule.next_at

        assert await other.schedules() == []
        assert not await other.advance_schedule("nightly", expected=tick, next_at=tick + HOUR, job={"kind": "report"})
        assert await only(bench) == schedule
        assert (await other.find()).items == []

    @scenario("ALL-02")
    async def test_more_schedules_than_there_may_be_are_refused_and_none_of_them_is_kept(self, bench: Bench) -> None:
        asked = {"cron": "* * * * *", "kind": "report", "next_at": to_moment(bench.clock())}
        many = [{**asked, "name": f"s{number}"} for number in range(SCHEDULES_MAX)]
        await bench.client.keep_schedules(many[:-1])
        await refused(bench.client.keep_schedules([many[-1], {**asked, "name": "one too many"}]), "invalid_argument")

        assert len(await bench.client.schedules()) == SCHEDULES_MAX - 1
        assert len(await bench.client.keep_schedules(many)) == SCHEDULES_MAX

    @scenario("ALL-02")
    async def test_what_is_no_schedule_is_refused_and_nothing_is_kept(self, bench: Bench) -> None:
        good = {"name": "a", "cron": "* * * * *", "kind": "report", "next_at": to_moment(bench.clock())}
        for wrong in ({"name": ""}, {"kind": None}, {"cron": 5}, {"zone": ""}, {"colour": "red"}):
            await refused(bench.client.keep_schedules([{**good, **wrong}]), "invalid_argument")
        await refused(bench.client.keep_schedules([good, good]), "invalid_argument")
        await refused(bench.client.keep_schedules([{**good, "next_at": 5}]), "bad_moment")

        assert await bench.client.schedules() == []
