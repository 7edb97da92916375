"""Readers and claimers at one service while jobs run: the campaign of `make chaos`, small."""

from tests.figures import Show
from tests.surfaces.http.crowd.campaigns import SMALL
from tests.surfaces.http.crowd.crowding import run_crowd


def test_every_reader_sees_each_event_of_its_queue_once_however_it_reads(url: str, show: Show) -> None:
    outcome = run_crowd(url, SMALL, seed=1)

    show(outcome.summary)
    assert outcome.faults == []
