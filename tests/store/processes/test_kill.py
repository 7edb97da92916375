"""Writers killed at random moments, by SIGKILL, under load."""

import pytest

from tests.figures import Show
from tests.store.processes.killing import run_kills
from tests.store.processes.transactions import is_on_postgres


@pytest.mark.requirement("STD-18", "ALL-03", "ALL-05")
def test_nothing_acknowledged_is_lost_when_writers_are_killed(url: str, show: Show) -> None:
    outcome = run_kills(url, seed=20, kills=10 if is_on_postgres(url) else 40)

    show(outcome.summary)
    assert outcome.faults == []
