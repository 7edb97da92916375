"""Stores that count what is asked of them, and stores that fail."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import Any

from detent.client import Client, Codec
from detent.errors import StoreError
from detent.kernel import Job
from detent.lifecycles import BUILT_IN
from detent.store import Entry, EventQuery, Page
from detent.testing import MemoryStore


class CountingStore(MemoryStore):
    """`failures`: how many of the next reads of the log fail."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.calls: Counter[str] = Counter()
        self.failures = 0

    async def events(self, query: EventQuery, limit: int, cursor: str | None = None) -> Page[Entry]:
        self.calls["events"] += 1
        if self.failures:
            self.failures -= 1
            raise StoreError("the disk is on fire", code="store_io")
        return await super().events(query, limit, cursor)

    async def get(self, tenant: str, job_ids: Sequence[str]) -> list[Job | None]:
        self.calls["get"] += 1
        return await super().get(tenant, job_ids)

    async def news(self, seen: str | None, timeout_s: float) -> str:
        self.calls["news"] += 1
        return await super().news(seen, timeout_s)


async def client_of(store: MemoryStore, tenant: str = "default") -> Client:
    client = Client(store, tenant=tenant, codec=Codec(), lifecycles=tuple(BUILT_IN.values()))
    await client.open()
    return client


def on_a_loop(scenario: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that fails rather than hangs."""

    @wraps(scenario)
    def test(*given: Any, **named: Any) -> None:
        asyncio.run(asyncio.wait_for(scenario(*given, **named), 60))

    return test
