"""One who follows the log: on its own, then along the ring, then by what the tail publishes to it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final, Literal

from msgspec import Struct

from detent.store.waiting import now_s
from detent.surfaces.http.live.audience import Audience
from detent.surfaces.http.live.buffer import Buffer
from detent.surfaces.http.live.filters import Filters
from detent.surfaces.http.live.item import Item
from detent.surfaces.http.live.log import Log
from detent.surfaces.http.live.own import Own
from detent.surfaces.http.live.ring import Ring

BATCH_MAX: Final = 64
Reason = Literal["slow", "closing", "trouble", "left"]


class Ended(Struct, frozen=True):
    """No more comes. Whoever goes on from the cursor has neither a gap nor a double.

    `slow`: it was too far behind. `closing`: the service stops. `trouble`: the store fails. `left`: it was closed.
    """

    reason: Reason
    cursor: str


class Reader:
    """Of one caller at a time. `ended` is None as long as it goes on."""

    def __init__(self, log: Log, ring: Ring, audience: Audience, filters: Filters, after: str | None) -> None:
        self.filters = filters
        self.ended: Ended | None = None
        self._ring = ring
        self._audience = audience
        self._stirred = asyncio.Event()
        self._cursor = ring.place if after is None else after
        self._buffer = Buffer(items_max=log.settings.buffer_max, bytes_max=log.settings.buffer_bytes_max)
        self._position = ring.position_of(self._cursor)
        self._own = None if self._position is not None else Own(log, ring, self._cursor, filters, self._stirred.set)
        self._is_listening = False

    async def begin(self) -> None:
        if self._own is not None:
            await self._own.begin()

    @property
    def cursor(self) -> str:
        """The place up to which it was handed everything it asked for, also if nothing was asked for since long."""
        if self._is_listening and not self._buffer and self.ended is None:
            return self._ring.place
        return self._cursor

    async def next(self, timeout_s: float | None = None) -> Item | Ended | None:
        """None: the time is over."""
        batch = await self.batch(timeout_s, items_max=1)
        return batch if isinstance(batch, Ended) else next(iter(batch), None)

    async def batch(self, timeout_s: float | None = None, *, items_max: int = BATCH_MAX) -> list[Item] | Ended:
        """As soon as there are any, so many at most. None of them: the time is over."""
        deadline_s = None if timeout_s is None else now_s() + timeout_s
        while True:
            self._stirred.clear()
            if items := self._take(items_max):
                return items
            if self.ended is not None:
                return self.ended
            if deadline_s is not None and now_s() >= deadline_s:
                return []
            await self._stirred_by(deadline_s)

    async def __aiter__(self) -> AsyncIterator[Item]:
        while not isinstance(batch := await self.batch(), Ended):
            for item in batch:
                yield item

    def hear(self, item: Item) -> None:
        """Of the tail, which never waits."""
        if not self._buffer.put(item):
            self.end("slow")
        self._stirred.set()

    def end(self, reason: Reason) -> None:
        """What was not handed out yet is dropped: it comes after the cursor, and is read again by who resumes."""
        if self.ended is not None:
            return
        self.ended = Ended(reason, self.cursor)
        self._cursor = self.ended.cursor
        self._audience.leave(self)
        self._buffer.clear()
        if self._own is not None:
            self._own.close()
        self._stirred.set()

    def _take(self, items_max: int) -> list[Item]:
        items: list[Item] = []
        if self.ended is None and self._own is not None:
            items = self._on_its_own(self._own, items_max)
        if self.ended is None and self._position is not None and len(items) < items_max:
            items += self._along_the_ring(self._position, items_max - len(items))
        if self.ended is None and self._is_listening and len(items) < items_max:
            items += self._heard(items_max - len(items))
        return items

    def _on_its_own(self, own: Own, items_max: int) -> list[Item]:
        items, self._position = own.take(items_max)
        self._cursor = own.cursor
        if self._position is not None:
            own.close()
            self._own = None
        elif own.has_failed:
            self.end("trouble")
        elif len(items) < items_max:
            own.read_on()
        return items

    def _along_the_ring(self, position: int, items_max: int) -> list[Item]:
        """It listens as soon as it has come to the end, and nothing is published in between: this does not wait."""
        items: list[Item] = []
        while position < self._ring.end and len(items) < items_max:
            item = self._ring.at(position)
            if item is None:
                self.end("slow")
                return items
            position, self._cursor = position + 1, item.cursor
            if self.filters.match(item.event, item.belonging):
                items.append(item)
        self._position = position
        if position == self._ring.end:
            self._listen()
        return items

    def _listen(self) -> None:
        self._position = None
        self._is_listening = True
        self._audience.enter(self)

    def _heard(self, items_max: int) -> list[Item]:
        items = self._buffer.take(items_max)
        if items:
            self._cursor = items[-1].cursor
        return items

    async def _stirred_by(self, deadline_s: float | None) -> None:
        left_s = None if deadline_s is None else max(deadline_s - now_s(), 0)
        try:
            async with asyncio.timeout(left_s):
                await self._stirred.wait()
        except TimeoutError:
            return
