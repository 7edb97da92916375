"""How a rate is counted: never more claims in a window than it allows, and hardly less than it could."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.lifecycle import Limit
from detent.store.limits import BUNDLES_MAX, SLICES, Rate, counted, free_at

SECOND = 1_000_000


def claimed(limit: Limit, asked: list[int]) -> tuple[list[int], Rate]:
    """The moments at which a claim was let through, of those at which one was asked for."""
    taken: list[int] = []
    rate = Rate()
    for now in asked:
        if free_at(limit, rate, now) <= now:
            rate = counted(limit, rate, now)
            taken.append(now)
    return taken, rate


@given(
    st.integers(1, 200), st.integers(1, 10_000), st.lists(st.integers(0, 3_000), max_size=600).map(accumulate).map(list)
)
def test_no_window_has_more_claims_than_the_rate_allows(rate_max: int, per_us: int, asked: list[int]) -> None:
    taken, rate = claimed(Limit(rate_max=rate_max, per_s=per_us / SECOND), asked)

    assert all(later - first >= per_us for first, later in zip(taken, taken[rate_max:], strict=False))
    assert len(rate.bundles) <= BUNDLES_MAX


@given(st.integers(1, BUNDLES_MAX), st.lists(st.integers(0, 40), max_size=400).map(accumulate).map(list))
def test_rate_that_is_remembered_claim_by_claim_holds_none_back(rate_max: int, asked: list[int]) -> None:
    """What it takes is what somebody who kept every claim would take."""
    limit = Limit(rate_max=rate_max, per_s=100 / SECOND)
    exact: list[int] = []
    for now in asked:
        if sum(at > now - limit.per_us for at in exact) < rate_max:
            exact.append(now)

    assert claimed(limit, asked)[0] == exact


@pytest.mark.parametrize(("rate_max", "windows"), [(1_000, 10), (10_000, 3)])
def test_bundles_hold_little_back(rate_max: int, windows: int) -> None:
    """A stream that asks without pause, for several windows."""
    limit = Limit(rate_max=rate_max, per_s=60)
    step = limit.per_us // (2 * rate_max)
    taken, rate = claimed(limit, list(range(0, windows * limit.per_us, step)))

    assert len(taken) >= windows * rate_max * (1 - 2 / SLICES)
    assert len(rate.bundles) <= BUNDLES_MAX


def test_next_moment_is_when_enough_claims_are_out_of_the_window() -> None:
    limit = Limit(rate_max=3, per_s=60)
    _, rate = claimed(limit, [0, 10 * SECOND, 10 * SECOND])

    assert rate.full_until == free_at(limit, rate, 20 * SECOND) == 60 * SECOND
    assert free_at(limit, rate, 60 * SECOND) == 60 * SECOND
    assert rate.expires_at == 70 * SECOND


def test_longer_window_of_another_job_is_not_cut_short_by_a_shorter_one() -> None:
    long, short = Limit(rate_max=2, per_s=3_600), Limit(rate_max=100, per_s=1)
    rate = counted(long, Rate(), 0)
    for now in range(0, 100 * SECOND, 10 * SECOND):
        rate = counted(short, rate, now)

    assert free_at(long, rate, 200 * SECOND) > 3_600 * SECOND
    assert free_at(short, rate, 200 * SECOND) == 200 * SECOND


def test_clock_that_steps_back_counts_as_the_last_claim() -> None:
    limit = Limit(rate_max=2, per_s=60)
    rate = counted(limit, counted(limit, Rate(), 10 * SECOND), 5 * SECOND)

    assert free_at(limit, rate, 11 * SECOND) == 70 * SECOND
