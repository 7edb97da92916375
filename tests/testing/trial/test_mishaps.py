"""What a test can have go wrong: attempts that fail, workers that die, cancels in the middle of the work."""

from typing import Any

import pytest

from detent import Context, InvalidArgument, PermanentError, Retry
from detent.app import JobFunction
from detent.testing import Trial
from tests.testing.trial.conftest import Drain

Work = JobFunction[..., ..., Any, Any]


@pytest.fixture
def calls() -> list[int]:
    """The attempts in which the function was called."""
    return []


@pytest.fixture
def work(jobs: Trial, calls: list[int]) -> Work:
    @jobs.app.job(retry=Retry(max_attempts=3, base_s=10))
    def work(ctx: Context) -> int:
        calls.append(ctx.attempt)
        return ctx.attempt

    return work


def test_attempt_fails_once_and_the_next_one_succeeds(jobs: Trial, drain: Drain, work: Work, calls: list[int]) -> None:
    handle = work.enqueue()
    with jobs.failing(work, error=OSError("disk full")):
        played = drain(until="idle")

    assert [each.came_to for each in played] == ["retried", "success"]
    assert (handle.result(), calls) == (2, [2])
    last_error = handle.job().last_error
    assert last_error is not None
    assert (last_error.type, last_error.message) == ("OSError", "disk full")


def test_failure_after_the_work_leaves_its_effects(jobs: Trial, drain: Drain, work: Work, calls: list[int]) -> None:
    work.enqueue()
    with jobs.failing(work, after=True):
        drain(until="idle")

    assert calls == [1, 2]


def test_failure_for_good_ends_the_job(jobs: Trial, drain: Drain, work: Work) -> None:
    handle = work.enqueue()
    with jobs.failing(work, error=PermanentError):
        drain(until="idle")

    assert (handle.job().outcome, handle.job().attempt) == ("failure", 1)


def test_attempts_fail_as_often_as_was_said(jobs: Trial, drain: Drain, work: Work) -> None:
    handle = work.enqueue()
    with jobs.failing(work, times=2) as mishap:
        drain(until="idle")

    assert (handle.result(), mishap.happened) == (3, 2)


@pytest.mark.requirement("STD-06")
def test_job_of_a_worker_that_died_lies_there_until_its_lease_is_over(jobs: Trial, drain: Drain, work: Work) -> None:
    handle = work.enqueue()
    with jobs.crashing(work):
        drain()
    lying, owner = drain(), handle.job().owner
    jobs.clock.advance(120)
    drain(until="idle")

    assert (lying, owner) == ([], "worker-1")
    assert (handle.result(), handle.job().crashes, handle.job().last_owner) == (2, 1, "worker-2")
    jobs.assert_path(handle, "enqueue", "claim", "start", "expire", "claim", "start", "complete", by="verb")


def test_worker_that_dies_after_the_work_has_it_done_twice(
    jobs: Trial, drain: Drain, work: Work, calls: list[int]
) -> None:
    work.enqueue()
    with jobs.crashing(work, after=True):
        drain(until="idle")

    assert calls == [1, 2]


@pytest.mark.requirement("STD-06")
def test_job_that_kills_its_worker_every_time_is_a_dead_letter(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job(retry=Retry(max_attempts=10, crashes_max=2, base_s=1))
    def poison() -> None: ...

    handle = poison.enqueue()
    with jobs.crashing(poison, times=2):
        drain(until="idle")
    job = handle.job()

    assert job.error is not None
    assert (job.state, job.error.reason_code) == ("dead_lettered", "infrastructure_failure")


def test_job_waits_for_a_child_whose_worker_died(jobs: Trial, drain: Drain, work: Work) -> None:
    @jobs.app.job
    def parent() -> int:
        return int(work.enqueue().result())

    handle = parent.enqueue()
    with jobs.crashing(work):
        drain()

    assert (handle.result(), handle.job().attempt) == (2, 1)


@pytest.mark.requirement("STD-07")
def test_handler_that_is_cancelled_hears_of_it_when_it_checks(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job
    async def walk(ctx: Context) -> None:
        for step in range(3):
            ctx.save(step)
            await ctx.acheck()

    handle = walk.enqueue()
    with jobs.cancelling(walk):
        (played,) = drain()

    assert played.came_to == "cancelled"
    assert (handle.state, handle.job().checkpoint) == ("cancelled", 0)
    jobs.assert_path(handle, ..., "request_cancel", "cancel", by="verb")


def test_handler_that_does_not_check_completes_within_the_grace(jobs: Trial, drain: Drain, work: Work) -> None:
    handle = work.enqueue()
    with jobs.cancelling(work):
        drain()

    assert handle.state == "succeeded"


@pytest.mark.requirement("STD-07")
def test_handler_that_does_not_check_is_given_up_when_the_grace_is_over(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job(grace_s=10)
    def deaf() -> str:
        jobs.clock.advance(11)
        return "too late"

    handle = deaf.enqueue()
    with jobs.cancelling(deaf):
        drain()

    assert handle.state == "cancelled"
    assert [note.kind for note in jobs.client.notes(handle.id)] == ["late_result"]


def test_hard_cancel_takes_the_job_at_once_and_what_comes_of_it_is_a_note(
    jobs: Trial, drain: Drain, work: Work
) -> None:
    handle = work.enqueue()
    with jobs.cancelling(work, mode="hard"):
        drain()

    assert handle.state == "cancelled"
    assert [note.kind for note in jobs.client.notes(handle.id)] == ["late_result"]


def test_mishap_that_never_came_to_pass_fails_the_test(jobs: Trial, work: Work) -> None:
    never = pytest.raises(AssertionError, match="'work' was to fail once, and no attempt was made at it")

    with never, jobs.failing(work):
        jobs.drain()


def test_mishap_in_a_block_ends_with_it(jobs: Trial, work: Work) -> None:
    first = work.enqueue()
    with jobs.failing(work, times=5, error=PermanentError):
        jobs.drain()
    second = work.enqueue()
    jobs.drain()

    assert (first.state, second.state) == ("failed", "succeeded")


def test_mishap_without_a_block_lasts_for_the_test(jobs: Trial, work: Work) -> None:
    jobs.failing(work, error=PermanentError)
    first, second = work.enqueue(), work.enqueue()
    jobs.drain()

    assert (first.state, second.state) == ("failed", "succeeded")


def test_mishap_that_is_to_happen_never_is_refused(jobs: Trial, work: Work) -> None:
    with pytest.raises(InvalidArgument, match="times is 0"):
        jobs.failing(work, times=0)
