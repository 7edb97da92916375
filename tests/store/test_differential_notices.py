"""Proof that the differential test bites: it notices stores with one mistake each."""

from typing import Final

import pytest
from hypothesis import Phase, Verbosity, settings
from hypothesis.stateful import run_state_machine_as_test

from detent.errors import DetentError
from tests.postgres.shared import Shared
from tests.store import planted, planted_on_postgres
from tests.store.machine import Differential, on_postgresql
from tests.store.planted import Patch

# It ends with the first example that notices: the bound is for the rare run in which that takes long.
QUICK: Final = settings(
    max_examples=300,
    stateful_step_count=40,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    verbosity=Verbosity.quiet,
)


@pytest.mark.parametrize("mistake", planted.PLANTED)
def test_differential_test_notices_a_store_on_sqlite_that(mistake: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    mistake(monkeypatch)

    with pytest.raises((AssertionError, DetentError)):
        run_state_machine_as_test(Differential, settings=QUICK)


@pytest.mark.parametrize("mistake", planted_on_postgres.PLANTED)
def test_differential_test_notices_a_store_on_postgresql_that(
    mistake: Patch, monkeypatch: pytest.MonkeyPatch, pg_shared: Shared
) -> None:
    mistake(monkeypatch)

    with pytest.raises((AssertionError, DetentError)):
        run_state_machine_as_test(on_postgresql(pg_shared, is_alone=True), settings=QUICK)
