"""Every world of the real kernel within bounds, and proof that the search notices a missing safeguard."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from detent.errors import Refused
from detent.kernel import Change, Event, Job, Receipt
from detent.kernel.command import Command
from detent.lifecycle import Lifecycle, Retry
from detent.lifecycles import BUILT_IN, CONTRACT, DOCUMENT, STANDARD
from detent.testing.explore import Counterexample, Report, explore
from detent.testing.machinery import Machinery, real_decide

SAFETY = ("ALL-01", "ALL-02", "ALL-03", "ALL-04", "ALL-05", "ALL-06", "ALL-07", "ALL-08", "ALL-09", "ALL-10")


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str]) -> Callable[[object], None]:
    """Print past pytest's capture: the number of states is part of the result."""

    def shown(what: object) -> None:
        with capsys.disabled():
            print(f"\n  {what}", end="")  # noqa: T201

    return shown


def summary(report: Report) -> str:
    return (
        f"{report.lifecycle}: {report.jobs} job(s) × {report.workers} workers, at most {report.faults} faults: "
        f"{report.states:,} states, {report.transitions:,} transitions"
    )


@pytest.mark.requirement(*SAFETY, "ALL-12", "ALL-15", "ALL-16", "ALL-17")
@pytest.mark.parametrize("name", BUILT_IN)
def test_no_history_of_one_job_breaks_an_invariant_or_gets_stuck(name: str, show: Callable[[object], None]) -> None:
    report = explore(BUILT_IN[name], jobs=1, workers=3, faults=2)

    show(summary(report))
    assert report.counterexample is None, str(report.counterexample)
    assert report.states > 2_000


@pytest.mark.requirement("ALL-01", "ALL-05", "ALL-08")
@pytest.mark.parametrize("name", BUILT_IN)
def test_no_history_of_claims_on_two_jobs_breaks_an_invariant(name: str, show: Callable[[object], None]) -> None:
    report = explore(BUILT_IN[name], jobs=2, workers=2, faults=1)

    show(summary(report))
    assert report.counterexample is None, str(report.counterexample)
    assert report.states > 500


# -- proof that it bites: each safeguard switched off ------------------------------------------------------------------


def without_fence(
    lifecycle: Lifecycle, job: Job, command: Command, now: int, receipt: Receipt | None
) -> Change | Refused:
    """The attempt a caller names is taken to be the present one."""
    return real_decide(lifecycle, job, replace(command, attempt=job.attempt), now, receipt)


def without_owner_check(
    lifecycle: Lifecycle, job: Job, command: Command, now: int, receipt: Receipt | None
) -> Change | Refused:
    """Any worker is taken for the owner, whatever attempt it has in mind."""
    if command.worker is not None and job.owner is not None:
        command = replace(command, worker=job.owner, attempt=job.attempt)
    return real_decide(lifecycle, job, command, now, receipt)


def without_crash_budget(
    lifecycle: Lifecycle, job: Job, command: Command, now: int, receipt: Receipt | None
) -> Change | Refused:
    """A lost lease is never one too many; failures are bounded as ever."""
    if command.verb != lifecycle.on_expiry:
        return real_decide(lifecycle, job, command, now, receipt)
    boundless = replace(job.spec, policy=replace(job.spec.policy, retry=Retry(max_attempts=1_000, base_s=0)))
    answer = real_decide(lifecycle, replace(job, spec=boundless), command, now, receipt)
    return replace(answer, before=job) if isinstance(answer, Change) else answer


def without_idempotency(
    lifecycle: Lifecycle, job: Job, command: Command, now: int, receipt: Receipt | None
) -> Change | Refused:
    return real_decide(lifecycle, job, command, now, None)


def without_lease_check(
    lifecycle: Lifecycle, job: Job, command: Command, now: int, receipt: Receipt | None
) -> Change | Refused:
    """An owner whose lease is over is taken to be in time: the lease is moved out of the way of the check."""
    if command.worker is not None and job.lease_expires_at is not None and now >= job.lease_expires_at:
        answer = real_decide(lifecycle, replace(job, lease_expires_at=now + 1), command, now, receipt)
        return replace(answer, before=job) if isinstance(answer, Change) else answer
    return real_decide(lifecycle, job, command, now, receipt)


def without_revision_check(change: Change, job: Job, now: int) -> bool:
    return True


def lost_event(change: Change) -> tuple[Event, ...]:
    return change.events[:-1]


def doubled_event(change: Change) -> tuple[Event, ...]:
    return (*change.events, change.events[-1])


def broken(found: Counterexample | None) -> set[str]:
    assert found is not None, "the search did not notice"
    return {violation.invariant for violation in found.violations}


@pytest.mark.requirement("ALL-07")
def test_without_the_fence_a_request_from_an_older_attempt_gets_through(show: Callable[[object], None]) -> None:
    report = explore(STANDARD, machinery=Machinery(STANDARD, decide=without_fence))

    show(report.counterexample)
    assert "I6" in broken(report.counterexample)


@pytest.mark.requirement("ALL-06")
@pytest.mark.parametrize("lifecycle", [STANDARD, CONTRACT])
def test_without_the_revision_check_a_change_decided_earlier_overwrites_a_later_one(
    lifecycle: Lifecycle, show: Callable[[object], None]
) -> None:
    report = explore(lifecycle, machinery=Machinery(lifecycle, holds=without_revision_check))

    show(report.counterexample)
    assert broken(report.counterexample) & {"I1", "I3", "I6"}


@pytest.mark.requirement("ALL-01", "ALL-07")
def test_without_the_owner_check_a_stranger_finishes_the_job(show: Callable[[object], None]) -> None:
    report = explore(STANDARD, machinery=Machinery(STANDARD, decide=without_owner_check))

    show(report.counterexample)
    assert "I6" in broken(report.counterexample)


@pytest.mark.requirement("ALL-03")
@pytest.mark.parametrize("log", [lost_event, doubled_event])
def test_without_the_single_event_the_log_and_the_record_part(
    log: Callable[[Change], tuple[Event, ...]], show: Callable[[object], None]
) -> None:
    report = explore(STANDARD, machinery=Machinery(STANDARD, log=log))

    show(report.counterexample)
    assert broken(report.counterexample) & {"I1", "I3"}


@pytest.mark.requirement("ALL-16")
@pytest.mark.parametrize("lifecycle", [STANDARD, DOCUMENT])
def test_without_the_crash_budget_a_poison_job_goes_round_for_ever(
    lifecycle: Lifecycle, show: Callable[[object], None]
) -> None:
    report = explore(lifecycle, machinery=Machinery(lifecycle, decide=without_crash_budget))

    show(report.counterexample)
    assert "I9" in broken(report.counterexample)


@pytest.mark.requirement("ALL-05")
def test_without_the_memory_of_requests_a_duplicate_takes_effect_twice(show: Callable[[object], None]) -> None:
    report = explore(STANDARD, machinery=Machinery(STANDARD, decide=without_idempotency))

    show(report.counterexample)
    assert "I12" in broken(report.counterexample)


@pytest.mark.requirement("ALL-07")
def test_without_the_lease_check_a_paused_worker_finishes_too_late(show: Callable[[object], None]) -> None:
    report = explore(STANDARD, machinery=Machinery(STANDARD, decide=without_lease_check))

    show(report.counterexample)
    assert "I6" in broken(report.counterexample)
