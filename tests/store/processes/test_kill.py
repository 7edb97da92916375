"""Writers killed at random moments, by SIGKILL, under load."""

from pathlib import Path

import pytest

from tests.store.processes.conftest import Show
from tests.store.processes.killing import run_kills


@pytest.mark.requirement("STD-18", "ALL-03", "ALL-05")
def test_nothing_acknowledged_is_lost_when_writers_are_killed(tmp_path: Path, show: Show) -> None:
    outcome = run_kills(tmp_path, seed=20, kills=40)

    show(outcome.summary)
    assert outcome.faults == []
