"""The published contract, kept by SQLite: in a file, and in memory."""

from pathlib import Path

import pytest

from detent.store import Store
from detent.store.clock import Clock, Random
from detent.store.sqlite import File, SqliteStore
from detent.testing import StoreContract
from tests.store.contract_ids import with_ids


@with_ids
class TestSqliteFile(StoreContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "jobs.db"

    def make_store(self, clock: Clock, random: Random) -> Store:
        return SqliteStore(File(str(self.path), synchronous="normal"), clock=clock, random=random)


@with_ids
class TestSqliteInMemory(StoreContract):
    def make_store(self, clock: Clock, random: Random) -> Store:
        return SqliteStore(File(":memory:"), clock=clock, random=random)
