"""Two thousand jobs on a server that crashes, with connections that break."""

import pytest

from tests.figures import Show
from tests.postgres.server import Server
from tests.store.processes.outages import run_outages


@pytest.mark.requirement("STD-18", "ALL-03", "ALL-05")
def test_nothing_acknowledged_is_lost_when_the_server_crashes(show: Show) -> None:
    with Server() as server:  # one of its own: others would suffer with it
        outcome = run_outages(server, server.new_database(), seed=1, jobs=2_000, restarts=3, terminations=20)

    show(outcome.summary)
    assert outcome.faults == []
