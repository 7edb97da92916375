"""What is counted of the attempts a job loses, what bounds them, and how a job ends that has used them up."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.audit import check_job
from detent.kernel.command import Release, Renew
from detent.kernel.command import Retry as RetryCommand
from detent.kernel.dead_letter import dead_letter_of
from detent.lifecycle import Policy, Retry
from detent.lifecycles import STANDARD
from tests.chance import examples
from tests.driving import Life

RUN_LIMIT_S = 90
ATTEMPTS_TRIED_MAX = 50


def begun(**retry: Any) -> Life:
    """A job at work, with that retry policy. Its run limit is longer than a lease, so both can be over first."""
    life = Life(STANDARD, policy=Policy(timeout_s=RUN_LIMIT_S, retry=Retry(**retry)))
    begin(life)
    return life


def begin(life: Life) -> None:
    """Claim and start it, as soon as that is possible."""
    assert life.job.claim_at is not None
    life.now = max(life.now, life.job.claim_at)
    life.claim(start=True)


def fail(life: Life) -> None:
    life.fail()


def crash(life: Life) -> None:
    life.reconcile()


def release(life: Life) -> None:
    life.do(Release(**life.as_owner()))


def overrun(life: Life) -> None:
    """Keep the lease until the run limit is over."""
    for _ in range(2):
        life.wait(RUN_LIMIT_S / 2 - 1)
        life.do(Renew(**life.as_owner()))
    life.reconcile()


Loss = Callable[[Life], None]
LOSSES: dict[str, Loss] = {"fail": fail, "crash": crash, "release": release, "overrun": overrun}


def lose(life: Life, *losses: Loss) -> Life:
    """Lose one attempt after the other; a new one begins before each but the first."""
    for number, loss in enumerate(losses):
        if number:
            begin(life)
        loss(life)
    return life


def ended_as(life: Life) -> tuple[str, str | None]:
    return life.job.state, life.job.error.reason_code if life.job.error else None


# -- what is counted -------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-16")
def test_failures_crashes_and_interruptions_are_counted_apart() -> None:
    life = lose(begun(max_attempts=10), fail, crash, release, fail, release, release)

    assert (life.job.failures, life.job.crashes, life.job.interruptions) == (2, 1, 3)


@pytest.mark.requirement("ALL-16")
def test_run_limit_counts_as_a_failure() -> None:
    life = lose(begun(max_attempts=10), overrun)

    assert life.job.last_error is not None
    assert life.job.last_error.type == "TimedOut"
    assert (life.job.failures, life.job.crashes, life.job.interruptions) == (1, 0, 0)


@pytest.mark.requirement("ALL-16")
def test_lease_lost_before_the_start_is_a_crash_too() -> None:
    life = Life(STANDARD)
    life.claim()
    life.reconcile()

    assert (life.job.state, life.job.crashes) == ("queued", 1)


@pytest.mark.requirement("ALL-16")
def test_attempt_counts_claims_and_nothing_else() -> None:
    life = lose(begun(max_attempts=10), fail, crash, release, overrun)
    raising = [event.verb for event in life.events if "attempt" in event.changes]

    assert raising == ["claim"] * 4
    assert life.job.attempt == 4


@pytest.mark.requirement("ALL-16")
@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.sampled_from(sorted(LOSSES)), min_size=1, max_size=8))
def test_every_lost_attempt_is_counted_once_and_as_what_it_was(names: list[str]) -> None:
    life = lose(begun(max_attempts=20), *(LOSSES[name] for name in names))

    assert life.job.failures == names.count("fail") + names.count("overrun")
    assert life.job.crashes == names.count("crash")
    assert life.job.interruptions == names.count("release")
    assert life.job.attempt == len(names)
    assert check_job(STANDARD, life.job, life.events) == []


# -- what bounds it --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-16", "STD-06")
@pytest.mark.parametrize("names", list(product(["fail", "crash", "overrun"], repeat=3)), ids=" ".join)
def test_max_attempts_bounds_failures_and_crashes_together(names: tuple[str, ...]) -> None:
    first, second, third = (LOSSES[name] for name in names)
    life = lose(begun(max_attempts=3), first, second)
    before = life.job.state
    begin(life)
    third(life)

    assert before == "queued"
    assert life.job.is_ended
    assert life.job.attempt == 3


@pytest.mark.requirement("STD-06")
@pytest.mark.parametrize("max_attempts", [1, 2, 7])
def test_job_is_tried_as_often_as_its_type_says(max_attempts: int) -> None:
    life = lose(begun(max_attempts=max_attempts), *[fail] * max_attempts)

    assert life.job.is_ended
    assert [event.verb for event in life.events].count("claim") == max_attempts


@pytest.mark.requirement("STD-06")
def test_job_is_tried_five_times_where_nothing_was_configured() -> None:
    life = Life(STANDARD)
    for _ in range(5):
        begin(life)
        fail(life)

    assert ended_as(life) == ("dead_lettered", "exhausted_retries")


@pytest.mark.requirement("ALL-16")
def test_interruptions_have_no_bound() -> None:
    life = lose(begun(max_attempts=1, crashes_max=1), *[release] * ATTEMPTS_TRIED_MAX)

    assert (life.job.state, life.job.interruptions) == ("queued", ATTEMPTS_TRIED_MAX)
    assert life.job.attempt == ATTEMPTS_TRIED_MAX


@pytest.mark.requirement("ALL-16")
def test_crash_budget_may_be_lower_than_that_of_all_attempts() -> None:
    life = lose(begun(max_attempts=9, crashes_max=2), crash, fail, fail, fail)
    before = life.job.state
    begin(life)
    crash(life)

    assert before == "queued"
    assert ended_as(life) == ("dead_lettered", "infrastructure_failure")


@pytest.mark.requirement("ALL-16", "STD-06")
def test_error_type_may_have_a_smaller_budget_of_its_own() -> None:
    retry = {"max_attempts": 9, "by_error": {"Flaky": Retry(max_attempts=2, used_up="fail")}}
    life = lose(begun(**retry), fail)
    begin(life)
    life.fail("Flaky")

    assert ended_as(life) == ("failed", "exhausted_retries")


@pytest.mark.requirement("ALL-16", "STD-06")
def test_error_type_may_have_a_larger_budget_of_its_own() -> None:
    life = begun(max_attempts=1, by_error={"Flaky": Retry(max_attempts=3)})
    states = []
    for _ in range(3):
        life.fail("Flaky")
        states.append(life.job.state)
        if not life.job.is_ended:
            begin(life)

    assert states == ["queued", "queued", "dead_lettered"]


@pytest.mark.requirement("ALL-16")
@pytest.mark.parametrize(("error_type", "loss"), [("LeaseExpired", crash), ("TimedOut", overrun)])
def test_losses_that_the_kernel_names_may_have_a_budget_of_their_own(error_type: str, loss: Loss) -> None:
    life = lose(begun(max_attempts=9, by_error={error_type: Retry.never()}), loss)

    assert life.job.state == "dead_lettered"


# -- how it ends -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-16", "STD-04", "STD-06")
@pytest.mark.parametrize(
    ("loss", "reason"),
    [(fail, "exhausted_retries"), (crash, "infrastructure_failure"), (overrun, "timeout")],
)
def test_used_up_job_is_set_aside_and_says_what_used_it_up(loss: Loss, reason: str) -> None:
    life = lose(begun(max_attempts=2), loss, loss)

    assert ended_as(life) == ("dead_lettered", reason)


@pytest.mark.requirement("ALL-16")
@pytest.mark.parametrize(
    ("losses", "reason"), [((fail, crash), "infrastructure_failure"), ((crash, fail), "exhausted_retries")]
)
def test_last_loss_gives_a_used_up_job_its_reason(losses: tuple[Loss, Loss], reason: str) -> None:
    life = lose(begun(max_attempts=2), *losses)

    assert ended_as(life) == ("dead_lettered", reason)


@pytest.mark.requirement("STD-06")
def test_used_up_failures_fail_where_the_policy_says_so() -> None:
    life = lose(begun(max_attempts=2, used_up="fail"), fail, fail)

    assert ended_as(life) == ("failed", "exhausted_retries")


@pytest.mark.requirement("STD-04")
@pytest.mark.parametrize(("loss", "reason"), [(crash, "infrastructure_failure"), (overrun, "timeout")])
def test_used_up_crashes_and_run_limits_are_set_aside_whatever_the_policy_says(loss: Loss, reason: str) -> None:
    life = lose(begun(max_attempts=1, used_up="fail"), loss)

    assert ended_as(life) == ("dead_lettered", reason)


@pytest.mark.requirement("STD-04")
def test_expired_lease_queues_the_job_again_while_attempts_are_left() -> None:
    life = lose(begun(max_attempts=2), crash)

    assert (life.job.state, life.job.owner, life.job.lease_expires_at) == ("queued", None, None)
    assert life.events[-1].type == "job_lease_expired"


@pytest.mark.requirement("ALL-16", "STD-06")
def test_retry_by_the_system_counts_as_a_failure_and_ends_where_the_budget_does() -> None:
    life = begun(max_attempts=2)
    life.do(RetryCommand(role="scheduler"))
    counted = life.job.failures
    begin(life)
    life.do(RetryCommand(role="scheduler"))

    assert counted == 1
    assert ended_as(life) == ("dead_lettered", "exhausted_retries")


@pytest.mark.requirement("ALL-16", "STD-04", "STD-06")
@pytest.mark.parametrize("starts", [False, True], ids=["before its start", "at work"])
def test_poison_job_that_kills_every_worker_ends_in_the_dead_letters(starts: bool) -> None:
    life = Life(STANDARD)
    for _ in range(ATTEMPTS_TRIED_MAX):
        if life.job.is_ended:
            break
        life.claim(start=starts)
        life.reconcile()
    letter = dead_letter_of(STANDARD, life.job)

    assert letter is not None
    assert (letter.attempts, letter.reason_code) == (5, "infrastructure_failure")
    assert check_job(STANDARD, life.job, life.events) == []


@pytest.mark.requirement("ALL-16")
def test_crash_that_a_worker_reports_counts_as_one_though_no_lease_ran_out() -> None:
    life = begun(crashes_max=2)
    life.fail("ProcessCrashed")

    assert (life.job.crashes, life.job.failures, life.job.state) == (1, 0, "queued")
    begin(life)
    life.fail("ProcessCrashed")
    assert (life.job.crashes, life.job.state) == (2, "dead_lettered")
    assert life.job.error is not None
    assert life.job.error.reason_code == "infrastructure_failure"
    assert check_job(STANDARD, life.job, life.events) == []
