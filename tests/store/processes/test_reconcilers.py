"""Several reconcilers, each in its process, over the same expired leases."""

import pytest

from tests.figures import Show
from tests.store.processes.reconciling import run_reconcilers


@pytest.mark.requirement("STD-04", "ALL-06")
def test_reconcilers_expire_each_lease_once(url: str, show: Show) -> None:
    outcome = run_reconcilers(url, reconcilers=3, jobs=1_000)

    show(outcome.summary)
    assert outcome.faults == []
