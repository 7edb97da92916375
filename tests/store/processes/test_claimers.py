"""Sixty-four claimers in eight processes, on one store."""

import pytest

from tests.figures import Show
from tests.store.processes.claiming import run_claimers


@pytest.mark.requirement("STD-14", "STD-15", "ALL-01", "ALL-05")
@pytest.mark.parametrize("jobs", [1, 2_000])
def test_sixty_four_claimers_never_share_a_job(url: str, show: Show, jobs: int) -> None:
    outcome = run_claimers(url, processes=8, claimers=8, jobs=jobs)

    show(outcome.summary)
    assert outcome.faults == []
