"""The hubs of a service: one for each tenant that is followed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from detent.errors import DetentError
from detent.store.protocol import Store
from detent.surfaces.http.live.filters import Filters
from detent.surfaces.http.live.hub import Hub, unheard
from detent.surfaces.http.live.item import Encode, plain
from detent.surfaces.http.live.reader import Reader
from detent.surfaces.http.live.settings import LiveSettings


class Hubs:
    """There are as many as have readers, or had some a moment ago: an idle one is forgotten when another is made."""

    def __init__(
        self,
        store: Store,
        *,
        encode: Encode = plain,
        settings: LiveSettings | None = None,
        troubled: Callable[[DetentError], None] = unheard,
    ) -> None:
        self._store = store
        self._encode = encode
        self._settings = settings
        self._troubled = troubled
        self._hubs: dict[str, Hub] = {}
        self._is_closed = False

    def of(self, tenant: str) -> Hub:
        """To be used at once: one that nobody reads from may be forgotten."""
        if tenant not in self._hubs:
            self._hubs = {name: hub for name, hub in self._hubs.items() if not hub.is_idle}
            self._hubs[tenant] = self._made(tenant)
        return self._hubs[tenant]

    @asynccontextmanager
    async def reader(
        self, tenant: str, filters: Filters | None = None, after: str | None = None
    ) -> AsyncIterator[Reader]:
        async with self.of(tenant).reader(filters, after) as reader:
            yield reader

    @property
    def readers(self) -> int:
        return sum(hub.readers for hub in self._hubs.values())

    async def close(self) -> None:
        """All readers end cleanly, and no other begins."""
        self._is_closed = True
        await asyncio.gather(*[hub.close() for hub in self._hubs.values()])

    def __len__(self) -> int:
        return len(self._hubs)

    def _made(self, tenant: str) -> Hub:
        return Hub(
            self._store,
            tenant,
            encode=self._encode,
            settings=self._settings,
            troubled=self._troubled,
            is_closed=self._is_closed,
        )
