"""Readers of the log while three processes write it."""

from pathlib import Path

from tests.store.processes.conftest import Show
from tests.store.processes.tailing import run_tail


def test_a_reader_in_another_process_sees_every_event_once_and_in_order(tmp_path: Path, show: Show) -> None:
    outcome = run_tail(tmp_path, writers=3, events=3_000)

    show(outcome.summary)
    assert outcome.faults == []
