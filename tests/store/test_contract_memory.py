"""The published contract, kept by the store in memory."""

from detent.store import Store
from detent.store.clock import Clock, Random
from detent.testing import MemoryStore, StoreContract
from tests.store.contract_ids import with_ids


@with_ids
class TestMemoryStore(StoreContract):
    def make_store(self, clock: Clock, random: Random) -> Store:
        store: Store = MemoryStore(clock=clock, random=random)
        return store
