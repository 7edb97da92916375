"""A drain also does what every worker does beside its handlers: the calendar, and the policy's verdicts."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from detent import App, Job
from detent.testing import Trial
from tests.testing.trial.conftest import Drain

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


@pytest.mark.requirement("DSP-04")
def test_cron_comes_due_when_the_clock_has_passed_its_tick(jobs: Trial, drain: Drain) -> None:
    jobs.clock.move_to(NOON)

    @jobs.app.job(cron="0 * * * *")
    def hourly() -> None: ...

    early = drain()
    jobs.clock.advance(3600)
    late = drain()

    assert (early, [each.kind for each in late]) == ([], ["hourly"])


def test_every_tick_has_its_job_at_its_moment_while_time_passes(jobs: Trial) -> None:
    jobs.clock.move_to(NOON)
    seen: list[datetime] = []

    @jobs.app.job(cron="0 * * * *")
    def hourly() -> None:
        seen.append(jobs.clock.now)

    jobs.run_for(3 * 3600)

    assert seen == [NOON + timedelta(hours=hour) for hour in (1, 2, 3)]


def test_calendar_does_not_keep_a_drain_from_its_end(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job(cron="* * * * *")
    def often() -> None: ...

    assert drain(until="idle") == []


@pytest.fixture
def detent_app() -> App:
    return App(policy=_policy)


def _policy(job: Job) -> Any:
    return {"report": "allow", "export": ("deny", "none-abroad"), "mail": ("throttle", "slowly", 60)}[job.kind]


@pytest.mark.requirement("DSP-07")
def test_policy_is_asked_about_what_waits_for_its_verdict(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job(lifecycle="dispatch")
    def report() -> str:
        return "done"

    @jobs.app.job(lifecycle="dispatch")
    async def export() -> None: ...

    allowed, denied = report.enqueue(), export.enqueue()
    drain()

    assert (allowed.result(), denied.state, denied.job().rule) == ("done", "DENIED", "none-abroad")


def test_what_the_policy_puts_off_comes_due_later(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job(lifecycle="dispatch")
    def mail() -> None: ...

    handle = mail.enqueue()
    early = drain()
    jobs.clock.advance(60)
    drain()

    assert (early, handle.state) == ([], "SUCCEEDED")
