"""Moments that are easily mistaken for something else."""

from datetime import UTC, datetime

import pytest

from detent.surfaces.cli.times import instant_of, moment_of
from tests.surfaces.running import Site

NOW = datetime(2026, 11, 16, tzinfo=UTC)


def test_date_without_hyphens_is_a_date_and_not_so_many_seconds() -> None:
    assert moment_of("20270101", NOW) == datetime(2027, 1, 1, tzinfo=UTC)
    assert moment_of("90", NOW) is None


@pytest.mark.parametrize("written", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_moment_that_utc_does_not_have_is_none(written: str) -> None:
    assert instant_of(written) is None


def test_tail_since_a_time_begins_with_all_since_then(site: Site) -> None:
    with site.client() as client:
        client.enqueue_many([{"kind": "scan"} for _ in range(1_500)])

    assert len(site.json("event", "tail", "--no-follow", "--since", "1h")) == 1_500
