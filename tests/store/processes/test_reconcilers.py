"""Two reconcilers in two processes, over the same expired leases."""

from pathlib import Path

import pytest

from tests.store.processes.conftest import Show
from tests.store.processes.reconciling import run_reconcilers


@pytest.mark.requirement("STD-04", "ALL-06")
def test_two_reconcilers_expire_each_lease_once(tmp_path: Path, show: Show) -> None:
    outcome = run_reconcilers(tmp_path, reconcilers=2, jobs=500)

    show(outcome.summary)
    assert outcome.faults == []
