"""How long a job waits before it is tried again."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.errors import Refused
from detent.kernel import Change, Error, decide
from detent.kernel.command import Claim, Fail, Release
from detent.lifecycle import Policy, Retry
from detent.lifecycles import STANDARD
from tests.chance import examples
from tests.driving import WORKER, Life

SECOND = 1_000_000
MANY = 10_000
SHARES = {0.0: 0.5, 0.5: 0.75, 1.0: 1.0}
"""What is left of the full wait, by what was drawn: jitter takes away at most half."""


def running(failures: int = 0, **retry: Any) -> Life:
    """At work, after so many failures."""
    life = Life(STANDARD, policy=Policy(retry=Retry(**{"max_attempts": 2 * MANY} | retry)))
    life.claim(start=True)
    life.job = replace(life.job, failures=failures)
    return life


def wait_s(life: Life, *, random: float, type_: str = "TransientError") -> float:
    """How long the job waits after failing now."""
    change = decide(STANDARD, life.job, Fail(**life.as_owner(), error=Error(type_)), life.now, random)
    assert isinstance(change, Change)
    assert change.job.claim_at is not None
    return (change.job.claim_at - life.now) / SECOND


def waits_s(count: int, *, random: float = 1.0, **retry: Any) -> list[float]:
    return [wait_s(running(failures, **retry), random=random) for failures in range(count)]


@pytest.mark.requirement("STD-05")
@pytest.mark.parametrize("random", SHARES)
def test_waits_double_from_half_a_second_up_to_a_minute(random: float) -> None:
    waits = waits_s(10, random=random, base_s=0.5, factor=2, max_s=60)

    assert waits == [full * SHARES[random] for full in (0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60)]


@pytest.mark.requirement("STD-05")
def test_doubling_from_half_a_second_up_to_a_minute_is_the_default() -> None:
    life = Life(STANDARD)
    life.claim(start=True)

    assert wait_s(life, random=1) == 0.5
    assert (Retry().base_s, Retry().factor, Retry().max_s, Retry().jitter) == (0.5, 2, 60, True)


@pytest.mark.requirement("STD-05")
@pytest.mark.parametrize(
    ("retry", "expected"),
    [
        ({"base_s": 3}, [3, 6, 12, 24]),
        ({"factor": 10}, [0.5, 5, 50, 60]),
        ({"max_s": 1.5}, [0.5, 1, 1.5, 1.5]),
        ({"factor": 1}, [0.5, 0.5, 0.5, 0.5]),
        ({"base_s": 0}, [0, 0, 0, 0]),
    ],
    ids=str,
)
def test_base_factor_and_longest_wait_are_configurable(retry: dict[str, float], expected: list[float]) -> None:
    assert waits_s(4, **retry) == expected


@pytest.mark.requirement("STD-05")
@settings(max_examples=examples(100), deadline=None)
@given(
    base_s=st.floats(0, 1e4),
    factor=st.floats(1, 100),
    max_s=st.floats(0, 1e6),
    random=st.floats(0, 1),
    losses=st.integers(1, MANY),
)
def test_wait_keeps_to_its_bounds(base_s: float, factor: float, max_s: float, random: float, losses: int) -> None:
    retry = Retry(base_s=base_s, factor=factor, max_s=max_s)
    full = replace(retry, jitter=False).delay_s(losses, random)
    wait = retry.delay_s(losses, random)

    assert min(base_s, max_s) <= full <= max_s
    assert full / 2 <= wait <= full
    assert wait <= retry.delay_s(losses + 1, random)


@pytest.mark.requirement("STD-05")
@pytest.mark.parametrize("factor", [1.5, 2, 10, 1e5, 1e9], ids=str)
def test_ten_thousand_losses_do_not_overflow(factor: float) -> None:
    wait = wait_s(running(MANY, factor=factor, max_s=60), random=1)

    assert wait == 60


@pytest.mark.requirement("STD-05")
@pytest.mark.parametrize("factor", [1.01, 1.05], ids=str)
def test_waits_that_grow_slowly_reach_the_longest_one_too(factor: float) -> None:
    wait = wait_s(running(MANY, factor=factor, max_s=60), random=1)

    assert wait == 60


@pytest.mark.requirement("STD-05")
def test_jitter_spreads_jobs_that_failed_together() -> None:
    life = running(3)
    waits = [wait_s(life, random=step / 10) for step in range(11)]

    assert all(earlier < later for earlier, later in pairwise(waits))
    assert waits[0] * 2 == waits[-1]


@pytest.mark.requirement("STD-05")
@pytest.mark.parametrize("random", SHARES)
def test_jitter_can_be_switched_off(random: float) -> None:
    assert waits_s(4, random=random, jitter=False) == [0.5, 1, 2, 4]


@pytest.mark.requirement("STD-05")
@pytest.mark.parametrize("random", SHARES)
def test_fixed_delay_is_the_same_each_time(random: float) -> None:
    life = Life(STANDARD, policy=Policy(retry=Retry.fixed(delay_s=7, max_attempts=9)))
    life.claim(start=True)
    waits = [wait_s(replaced(life, failures=failures), random=random) for failures in range(5)]

    assert waits == [7] * 5


def replaced(life: Life, **columns: Any) -> Life:
    life.job = replace(life.job, **columns)
    return life


@pytest.mark.requirement("STD-05")
def test_error_type_may_have_a_backoff_of_its_own() -> None:
    life = running(1, by_error={"RateLimited": Retry(max_attempts=9, base_s=30, factor=3, max_s=600)})

    assert wait_s(life, random=1, type_="RateLimited") == 90
    assert wait_s(life, random=1, type_="TransientError") == 1


@pytest.mark.requirement("STD-05")
def test_crashes_lengthen_the_wait_as_failures_do() -> None:
    life = replaced(running(1), crashes=2)

    assert wait_s(life, random=1) == 4


@pytest.mark.requirement("STD-05")
def test_claim_is_refused_until_the_wait_is_over() -> None:
    life = running()
    life.fail()
    due = life.job.claim_at
    assert due is not None
    before = life.job
    early = decide(STANDARD, life.job, Claim(worker=WORKER), due - 1)
    in_time = decide(STANDARD, life.job, Claim(worker=WORKER), due)

    assert isinstance(early, Refused)
    assert (early.code, early.state) == ("not_due", "queued")
    assert isinstance(in_time, Change)
    assert (in_time.job.state, in_time.job.attempt) == ("assigned", before.attempt + 1)


@pytest.mark.requirement("STD-05")
def test_job_over_its_run_limit_backs_off_like_any_failure() -> None:
    life = Life(STANDARD, policy=Policy(timeout_s=20, retry=Retry(base_s=8, jitter=False)))
    life.claim(start=True)
    life.reconcile()

    assert life.job.claim_at == life.now + 8 * SECOND


@pytest.mark.requirement("STD-04")
def test_job_whose_lease_expired_is_claimable_at_once() -> None:
    life = running(3)
    life.reconcile()

    assert (life.job.state, life.job.claim_at) == ("queued", life.now)
    assert life.claim().job.owner == WORKER


@pytest.mark.requirement("ALL-16")
def test_job_given_back_is_claimable_at_once() -> None:
    life = running(3)
    life.do(Release(**life.as_owner()))

    assert (life.job.state, life.job.claim_at) == ("queued", life.now)
    assert life.claim().job.owner == WORKER
