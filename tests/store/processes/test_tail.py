"""Readers of the log while several processes write it."""

from tests.figures import Show
from tests.store.processes.tailing import run_tail


def test_a_reader_in_another_process_sees_every_event_once_and_in_order(url: str, show: Show) -> None:
    outcome = run_tail(url, tellers=4, jobs=1_000)

    show(outcome.summary)
    assert outcome.faults == []
