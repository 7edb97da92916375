"""The log as a tenant's tail and readers see it: page by page, each event with the queue and kind of its job."""

import asyncio
from typing import NamedTuple

from detent.store import Entry, EventQuery
from detent.store.protocol import Store
from detent.surfaces.http.live.item import Encode, Item, item_of
from detent.surfaces.http.live.settings import LiveSettings
from detent.surfaces.http.live.specs import Belonging, Specs

Told = tuple[Entry, Belonging]


class Stretch(NamedTuple):
    """What was read from a place, and the place it led to. `is_last`: it looked at all there was."""

    told: list[Told]
    place: str
    is_last: bool


class Log:
    def __init__(self, store: Store, tenant: str, encode: Encode, settings: LiveSettings) -> None:
        self.settings = settings
        self._store = store
        self._query = EventQuery(tenant=tenant)
        self._specs = Specs(store, tenant, settings.specs_max)
        self._encode = encode
        self._turns = asyncio.Semaphore(settings.reads_max)

    async def end(self) -> str:
        return await self._store.wait(None, 0)

    async def grown(self, place: str) -> None:
        """By whichever tenant's events. It does not say where to go on: that is for who reads them."""
        await self._store.wait(place, self.settings.wait_s)

    async def read(self, place: str) -> Stretch:
        page_max = self.settings.page_max
        page = await self._store.events(self._query, page_max, place)
        belongings = await self._specs.of([entry.event for entry in page.items])
        told = list(zip(page.items, belongings, strict=True))
        return Stretch(told, page.cursor or place, is_last=len(told) < page_max)

    async def read_in_turn(self, place: str) -> Stretch:
        """For those who read by themselves: however many they are, the tail has room beside them."""
        async with self._turns:
            return await self.read(place)

    def forget(self) -> None:
        """What jobs belong to; it can be asked again."""
        self._specs.clear()

    def item(self, told: Told) -> Item:
        return item_of(*told, self._encode)
