"""Reading cron expressions: ticks forwards and back, in time zones, and what cannot be read."""

from datetime import UTC, datetime

import pytest

from detent.errors import InvalidArgument
from detent.runtime.calendar import check_cron, last_tick, tick_after

BERLIN = "Europe/Berlin"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_tick_is_after_the_moment_and_the_last_one_may_be_the_moment() -> None:
    three = utc("2026-11-16T03:00")

    assert tick_after("0 3 * * *", "UTC", three) == utc("2026-11-17T03:00")
    assert last_tick("0 3 * * *", "UTC", three) == three
    assert last_tick("0 3 * * *", "UTC", utc("2026-11-16T02:59:59.999999")) == utc("2026-11-15T03:00")


def test_tick_is_by_the_clocks_of_its_zone() -> None:
    assert tick_after("0 3 * * *", BERLIN, utc("2026-07-01T00:00")) == utc("2026-07-01T01:00")
    assert tick_after("0 3 * * *", BERLIN, utc("2026-12-01T00:00")) == utc("2026-12-01T02:00")


@pytest.mark.parametrize(
    ("before", "ticks"),
    [
        ("2026-03-28T12:00", ["2026-03-29T01:00", "2026-03-30T00:30"]),  # the hour from 2 to 3 is left out
        ("2026-10-24T12:00", ["2026-10-25T00:30", "2026-10-26T01:30"]),  # and comes twice
    ],
)
def test_tick_at_a_fixed_time_comes_once_on_a_day_when_clocks_are_put(before: str, ticks: list[str]) -> None:
    first = tick_after("30 2 * * *", BERLIN, utc(before))
    second = tick_after("30 2 * * *", BERLIN, first)

    assert [first, second] == [utc(each) for each in ticks]
    assert last_tick("30 2 * * *", BERLIN, first) == first


@pytest.mark.parametrize(
    ("cron", "zone", "said"),
    [
        ("61 * * * *", "UTC", "cron is '61 * * * *'; bad minute"),
        ("0 0 30 2 *", "UTC", "cron is '0 0 30 2 *'; bad day-of-month"),
        ("0 0 * * *", "Mars/Olympus", "zone is 'Mars/Olympus', which this machine's time zone data does not have"),
        ("0 0 * * *", "../etc", "zone is '../etc'"),
    ],
)
def test_what_cannot_be_read_is_told_of(cron: str, zone: str, said: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        check_cron(cron, zone)

    assert said in str(refused.value)
