"""Moments are written exactly, read strictly, and keep their order as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.errors import InvalidArgument
from detent.wire.moments import from_rfc3339, if_set, to_millis, to_rfc3339

FIRST = -62_135_596_800_000_000  # 0001-01-01
LAST = 253_402_300_799_999_999  # 9999-12-31
moments = st.integers(FIRST, LAST)


def test_moment_is_written_in_utc_with_microseconds() -> None:
    assert to_rfc3339(1_738_425_600_123_456) == "2025-02-01T16:00:00.123456Z"
    assert to_rfc3339(0) == "1970-01-01T00:00:00.000000Z"
    assert to_rfc3339(-1) == "1969-12-31T23:59:59.999999Z"


@given(moments)
def test_moment_survives_the_way_there_and_back(moment: int) -> None:
    assert from_rfc3339(to_rfc3339(moment)) == moment


@given(moments, moments)
def test_written_moments_sort_as_time_does(one: int, other: int) -> None:
    assert (to_rfc3339(one) < to_rfc3339(other)) == (one < other)


@pytest.mark.parametrize(
    "text",
    [
        "2025-02-01T16:00:00Z",
        "2025-02-01t16:00:00z",
        "2025-02-01T16:00:00.000000Z",
        "2025-02-01T17:30:00+01:30",
        "2025-02-01T08:00:00.0-08:00",
        "2025-02-01T16:00:00-00:00",
    ],
)
def test_every_spelling_of_a_moment_reads_the_same(text: str) -> None:
    assert from_rfc3339(text) == 1_738_425_600_000_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2025-02-01",
        "2025-02-01T16:00:00",
        "2025-02-01 16:00:00Z",
        "2025-W05-6T16:00:00Z",
        "20250201T160000Z",
        "2025-02-01T16:00Z",
        "2025-02-01T16:00:00,5Z",
        "2025-02-01T16:00:00.1234567Z",
        "2025-02-30T16:00:00Z",
        "2025-02-01T16:00:60Z",
        "2025-02-01T16:00:00+24:00",
        "2025-02-01T16:00:00Z\n",
        "٢٠٢٥-02-01T16:00:00Z",
        "x" * 100_000,
    ],
)
def test_what_is_not_rfc_3339_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        from_rfc3339(text)

    assert refusal.value.code == "bad_moment"
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("moment", [FIRST - 1, LAST + 1, 2**63, 2**200])
def test_moment_beyond_the_calendar_is_refused(moment: int) -> None:
    with pytest.raises(InvalidArgument, match="1 to 9999"):
        to_rfc3339(moment)


def test_milliseconds_round_down() -> None:
    assert to_millis(1_738_425_600_123_999) == 1_738_425_600_123
    assert to_millis(-1) == -1


def test_moment_that_has_not_come_stays_unset() -> None:
    assert if_set(to_millis, None) is None
    assert if_set(to_millis, 5_000) == 5
