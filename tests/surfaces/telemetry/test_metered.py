"""A store that counts is the store it was made around: it keeps the contract as that one does."""

import asyncio
from pathlib import Path

from detent import Client, Codec
from detent.lifecycles import BUILT_IN
from detent.store import Store
from detent.store.clock import Clock, Random
from detent.store.sqlite import File, SqliteStore
from detent.surfaces.telemetry.meter import Meter
from detent.surfaces.telemetry.metered import metered
from detent.testing import MemoryStore, StoreContract


class TestMeteredStore(StoreContract):
    def make_store(self, clock: Clock, random: Random) -> Store:
        return metered(MemoryStore(clock=clock, random=random), Meter())


def test_transactions_of_the_callers_own_work_through_it(tmp_path: Path) -> None:
    meter = Meter()

    async def story() -> int:
        store = metered(SqliteStore(File(str(tmp_path / "jobs.db"))), meter)
        client = Client(store, tenant="default", codec=Codec(), lifecycles=tuple(BUILT_IN.values()))
        await client.open()
        try:
            async with client.transaction() as tx:
                await client.enqueue("scan", tx=tx)
            return (await client.count())[()]
        finally:
            await client.close()

    assert asyncio.run(story()) == 1
    assert meter.moves["enqueue", "scan", "default", "queued"] == 1
