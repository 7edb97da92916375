"""Time in a trial is the test's: leases, limits and graces are measured by it, however long the host takes."""

from datetime import UTC, datetime

import pytest

from detent import Context, InvalidArgument, LeaseLost, Retry, Stopped
from detent.testing import Trial
from tests.testing.trial.conftest import Drain


def test_time_stands_still_while_jobs_run(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job
    def work() -> None: ...

    work.enqueue()
    began = jobs.clock.now
    drain()

    assert jobs.clock.now == began


def test_time_does_not_go_backwards(jobs: Trial) -> None:
    with pytest.raises(InvalidArgument):
        jobs.clock.advance(-1)


def test_test_can_begin_at_any_moment(jobs: Trial) -> None:
    eve = datetime(2030, 12, 31, 23, 59, tzinfo=UTC)
    jobs.clock.move_to(eve)

    assert jobs.client.enqueue("x").created_at == eve


@pytest.mark.requirement("STD-06")
def test_handler_that_takes_long_keeps_its_lease(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job(lease_s=60, heartbeat_s=20)
    def slow() -> None:
        jobs.clock.advance(3600)

    handle = slow.enqueue()
    (played,) = drain()

    assert played.came_to == "success"
    assert sum(event.verb == "renew" for event in handle.history()) == 180


def test_coroutine_that_takes_long_keeps_its_lease(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job(lease_s=60, heartbeat_s=20)
    async def slow(ctx: Context) -> None:
        jobs.clock.advance(600)
        await ctx.acheck()

    slow.enqueue()
    (played,) = drain()

    assert played.came_to == "success"


@pytest.mark.requirement("STD-08")
def test_handler_that_exceeds_its_time_is_told_to_stop_and_tried_again(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job(timeout_s=100, retry=Retry(max_attempts=2, base_s=1))
    def slow(ctx: Context) -> int:
        if ctx.attempt == 1:
            jobs.clock.advance(99)
            ctx.check()
            jobs.clock.advance(2)
            with pytest.raises(Stopped):
                ctx.check()
            ctx.check()
        return ctx.attempt

    handle = slow.enqueue()
    drain(until="idle")

    assert handle.result() == 2
    jobs.assert_path(handle, ..., "time_out", ..., "complete", by="verb")


def test_handler_that_does_not_hear_that_its_time_is_over_is_given_up(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job(timeout_s=100, retry=Retry.never())
    def deaf() -> str:
        jobs.clock.advance(101)
        return "too late"

    handle = deaf.enqueue()
    drain()

    assert handle.job().outcome == "failure"
    assert [note.kind for note in jobs.client.notes(handle.id)] == ["late_result"]


def test_handler_whose_job_was_taken_away_hears_of_it(jobs: Trial, drain: Drain) -> None:
    heard: list[bool] = []

    @jobs.app.job
    def work(ctx: Context) -> None:
        jobs.client.dead_letter(ctx.job.id, role="operator", actor="ann")
        with pytest.raises(LeaseLost):
            ctx.check()
        heard.append(True)

    handle = work.enqueue()
    drain()

    assert (heard, handle.state) == ([True], "dead_lettered")


def test_how_long_a_handler_took_is_how_long_the_test_let_pass(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job
    def work() -> None:
        jobs.clock.advance(1.5)

    handle = work.enqueue()
    drain()
    told = handle.history()[-1].payload

    assert told is not None
    assert told["execution_ms"] == 1500
