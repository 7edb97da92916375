"""A thousand jobs over all five lifecycles, from three processes at once."""

import pytest

from tests.figures import Show
from tests.store.processes.loading import run_load


@pytest.mark.requirement("STD-18", "ALL-03", "ALL-04", "ALL-12")
def test_a_load_over_all_lifecycles_ends_with_one_event_for_every_mutation(url: str, show: Show) -> None:
    outcome = run_load(url, seed=1, processes=3, jobs=1_000)

    show(outcome.summary)
    assert outcome.faults == []
