"""The published contract, kept by PostgreSQL."""

import pytest

from detent.store import Store
from detent.store.clock import Clock, Random
from detent.store.postgres import Address, PostgresStore
from detent.testing import StoreContract
from tests.store.contract_ids import with_ids


@with_ids
class TestPostgres(StoreContract):
    @pytest.fixture(autouse=True)
    def _database(self, pg_emptied: str) -> None:
        self.url = pg_emptied

    def make_store(self, clock: Clock, random: Random) -> Store:
        return PostgresStore(Address(url=self.url), clock=clock, random=random)
