"""Several processes that write at once take turns."""

from pathlib import Path

import pytest

from tests.figures import Show
from tests.store.processes.contending import run_contenders
from tests.store.processes.stores import url_of


@pytest.mark.alone
@pytest.mark.parametrize(("writers", "for_s", "share_min"), [(2, 6, 0.30), (4, 4, 0.10)])
def test_no_writer_starves_another(tmp_path: Path, show: Show, writers: int, for_s: float, share_min: float) -> None:
    outcome = run_contenders(url_of(tmp_path), writers=writers, for_s=for_s, share_min=share_min)

    show(outcome.summary)
    assert outcome.faults == []
