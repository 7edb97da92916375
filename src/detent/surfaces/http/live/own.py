"""A reader on its own: from a cursor that the ring does not know, it reads the store, until the ring knows its place.

It filters what it reads by itself, and asks the store for everything, so that its places are those of a tail. Should
they never be the same, it goes on like this: that is always right, and only costs more.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from detent.errors import DetentError
from detent.surfaces.http.live.filters import Filters
from detent.surfaces.http.live.item import Item
from detent.surfaces.http.live.log import Log, Told
from detent.surfaces.http.live.meeting import Meeting, arranged
from detent.surfaces.http.live.patience import Patience
from detent.surfaces.http.live.ring import Ring

TAIL_FIRST: Final = 3  # times the pause of the tail: it is given time to publish what both are about to read


class Own:
    """`stir` is called when there is more, or when it has failed for good."""

    def __init__(self, log: Log, ring: Ring, cursor: str, filters: Filters, stir: Callable[[], None]) -> None:
        self.cursor = cursor  # all up to here was handed out, or is not wanted
        self.has_failed = False
        self._log = log
        self._ring = ring
        self._filters = filters
        self._stir = stir
        self._told: deque[Told] = deque()
        self._place = cursor  # where what was read ends
        self._is_at_end = False
        self._reads_of_the_tail = ring.reads  # begun when the last read of its own was over, or those of its past
        self._meeting: Meeting | None = None
        self._reading: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """The first stretch: what is no cursor is refused here."""
        await self._read_once()

    def take(self, items_max: int) -> tuple[list[Item], int | None]:
        """What there is, and the position in the ring if it has come to a place that the ring knows."""
        items: list[Item] = []
        while len(items) < items_max:
            if (position := self._position()) is not None:
                return items, position
            if not self._told:
                if self.cursor == self._place:
                    break
                self.cursor = self._place
                continue
            told = self._told.popleft()
            self.cursor = told[0].cursor
            if self._filters.match(told[0].event, told[1]):
                items.append(self._log.item(told))
        return items, None

    def read_on(self) -> None:
        """In the background, so that who waits for it can stop waiting and lose nothing."""
        if self._reading is None and not self.has_failed:
            self._reading = asyncio.create_task(self._read())

    def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()

    async def _read(self) -> None:
        try:
            await self._read_patiently()
        except DetentError:
            self.has_failed = True
        except BaseException:
            self.has_failed = True  # or the reader would wait for ever
            raise
        finally:
            self._reading = None
            self._stir()

    async def _read_patiently(self) -> None:
        patience = Patience(self._log.settings.trouble_s_max)
        while True:
            try:
                if self._is_at_end:
                    await self._log.grown(self._place)
                    await asyncio.sleep(self._log.settings.pause_s * TAIL_FIRST)
                if self._position() is None:
                    await self._read_once()
                return
            except DetentError as error:
                await patience.after(error)

    async def _read_once(self) -> None:
        meeting = arranged(self._ring, self._reads_of_the_tail)
        stretch = await self._log.read_in_turn(self._place)
        self._reads_of_the_tail = self._ring.reads
        self._meeting = meeting if stretch.is_last else None
        if self._meeting is not None:
            self._meeting.has_read(stretch)
        self._told.extend(stretch.told)
        self._place = stretch.place
        self._is_at_end = stretch.is_last

    def _position(self) -> int | None:
        """In the ring, if this place is one of the tail's: by its cursor, or by what both have seen."""
        if (position := self._ring.position_of(self.cursor)) is not None:
            return position
        has_handed_out_all = not self._told and self.cursor == self._place
        return self._meeting.position() if has_handed_out_all and self._meeting is not None else None
