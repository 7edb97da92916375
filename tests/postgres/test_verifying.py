"""The audit of a long history on PostgreSQL: clean, and quick enough to be run every day."""

from contextlib import closing
from time import process_time
from typing import Final

import pytest

from detent import connect
from detent.testing.raw_postgres import RawPostgres
from tools.bench_kernel import slowness

ENDED: Final = 10_000
BATCH: Final = 500
VERIFY_US_MAX: Final = 300  # of this program's own time for a job, as on SQLite: 1,000,000 of them in 120 s


@pytest.mark.requirement("ALL-15")
def test_store_of_raw_rows_is_verified_clean_and_quickly(pg_emptied: str) -> None:
    """The rows are those that the engine would write, made the quick way."""
    with connect(pg_emptied) as client:
        client.enqueue("first")
        fill(pg_emptied)
        began_s = process_time()
        report = client.verify()
        spent_s = process_time() - began_s

    assert (report.jobs, report.events, report.violations) == (ENDED + 1, ENDED * 4 + 1, ())
    assert spent_s / ENDED * 1e6 <= VERIFY_US_MAX * slowness()


def fill(url: str) -> None:
    with closing(RawPostgres(url)) as raw:
        for _ in range(ENDED // BATCH):
            raw.enqueue(BATCH)
            numbers = raw.claim(BATCH)
            raw.complete(numbers, raw.start(numbers))
