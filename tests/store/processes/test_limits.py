"""Sixteen workers in four processes, on jobs that share limits."""

import pytest

from tests.store.processes.conftest import Show
from tests.store.processes.limiting import run_limited


@pytest.mark.requirement("STD-14", "ALL-05")
def test_workers_of_many_processes_never_exceed_a_limit(url: str, show: Show) -> None:
    outcome = run_limited(url)

    show(outcome.summary)
    assert outcome.faults == []
