"""Sixty-four claimers in eight processes, on one file."""

from pathlib import Path

import pytest

from tests.store.processes.claiming import run_claimers
from tests.store.processes.conftest import Show


@pytest.mark.requirement("STD-14", "STD-15", "ALL-01", "ALL-05")
def test_sixty_four_claimers_never_share_a_job(tmp_path: Path, show: Show) -> None:
    outcome = run_claimers(tmp_path, processes=8, claimers=8, jobs=2_000)

    show(outcome.summary)
    assert outcome.faults == []
