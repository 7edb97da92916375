"""The load over all five lifecycles, with a process of it killed every moment."""

from pathlib import Path

import pytest

from tests.figures import Show
from tests.store.processes.stores import url_of
from tests.store.processes.storming import run_storm


@pytest.mark.requirement("STD-18", "ALL-12", "ALL-15")
def test_a_load_whose_processes_are_killed_ends_without_a_backward_move(tmp_path: Path, show: Show) -> None:
    outcome = run_storm(url_of(tmp_path), seed=3, jobs=1_000, kills=6)

    show(outcome.summary)
    assert outcome.faults == []
