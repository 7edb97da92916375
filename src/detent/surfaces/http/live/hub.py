"""One tail of a tenant's log, for all who follow it. It runs while there are readers, and a while longer."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from detent.client.reads import check_cursor
from detent.errors import DetentError, ServiceError
from detent.store.protocol import Store
from detent.surfaces.http.live.audience import Audience
from detent.surfaces.http.live.filters import Filters
from detent.surfaces.http.live.item import Encode, plain
from detent.surfaces.http.live.log import Log
from detent.surfaces.http.live.patience import Patience
from detent.surfaces.http.live.reader import Reader, Reason
from detent.surfaces.http.live.ring import Ring
from detent.surfaces.http.live.settings import LiveSettings


def unheard(error: DetentError) -> None:
    """Nobody wanted to know."""


class Hub:
    """`troubled` hears of every failure of the store; the tail goes on regardless, from where it was."""

    def __init__(
        self,
        store: Store,
        tenant: str,
        *,
        encode: Encode = plain,
        settings: LiveSettings | None = None,
        troubled: Callable[[DetentError], None] = unheard,
        is_closed: bool = False,
    ) -> None:
        self._settings = settings or LiveSettings()
        self._log = Log(store, tenant, encode, self._settings)
        self._troubled = troubled
        self._readers: set[Reader] = set()
        self._guests = 0  # readers, and those about to be
        self._starting = asyncio.Lock()
        self._audience = Audience()
        self._ring: Ring | None = None
        self._tail: asyncio.Task[None] | None = None
        self._lingering: asyncio.TimerHandle | None = None
        self._is_closed = is_closed

    @property
    def is_running(self) -> bool:
        return self._tail is not None and not self._tail.done()

    @property
    def is_idle(self) -> bool:
        return self._guests == 0 and not self.is_running

    @property
    def readers(self) -> int:
        return len(self._readers)

    @asynccontextmanager
    async def reader(self, filters: Filters | None = None, after: str | None = None) -> AsyncIterator[Reader]:
        """From the cursor on, or from now on. What is no cursor is refused (`bad_cursor`)."""
        check_cursor(after)
        self._guests += 1
        self._stay()
        try:
            reader = Reader(self._log, await self._running(), self._audience, filters or Filters(), after)
            self._readers.add(reader)
            try:
                await reader.begin()
                yield reader
            finally:
                self._readers.discard(reader)
                reader.end("left")
        finally:
            self._guests -= 1
            self._linger()

    async def close(self) -> None:
        """Every reader ends cleanly, and no other begins."""
        self._is_closed = True
        self._stay()
        tail = self._stop()
        if tail is not None:
            await asyncio.wait([tail])

    async def _running(self) -> Ring:
        async with self._starting:
            place = None if self.is_running else await self._log.end()
            if self._is_closed:
                raise ServiceError("closing")
            if self._ring is None or place is not None:
                self._ring = self._begun(place or "")
            return self._ring

    def _begun(self, place: str) -> Ring:
        ring = Ring(place, items_max=self._settings.ring_max, bytes_max=self._settings.ring_bytes_max)
        self._tail = asyncio.create_task(self._run(ring))
        return ring

    async def _run(self, ring: Ring) -> None:
        """Readers of a tail that ends, for whatever reason, end with it."""
        reason: Reason = "trouble"
        try:
            await self._follow(ring)
        except asyncio.CancelledError:
            reason = "closing"
            raise
        except DetentError as error:
            self._troubled(error)
        finally:
            for reader in list(self._readers):
                reader.end(reason)

    async def _follow(self, ring: Ring) -> None:
        patience = Patience(self._settings.trouble_s_max)
        while True:
            try:
                await self._publish(ring)
                patience.succeeded()
            except DetentError as error:
                self._troubled(error)
                await patience.after(error)

    async def _publish(self, ring: Ring) -> None:
        ring.reads += 1
        stretch = await self._log.read(ring.place)
        items = [self._log.item(told) for told in stretch.told]
        for item in items:
            self._audience.tell(item)
        # Now all have been told, and a reader that waits has come to this place.
        ring.add(items, stretch.place, is_last=stretch.is_last)
        if stretch.is_last:
            await self._log.grown(ring.place)
            await asyncio.sleep(self._settings.pause_s)
        else:
            await asyncio.sleep(0)  # the readers' turn

    def _stay(self) -> None:
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None

    def _linger(self) -> None:
        if self._guests == 0 and not self._is_closed:
            self._stay()
            self._lingering = asyncio.get_running_loop().call_later(self._settings.linger_s, self._stop)

    def _stop(self) -> asyncio.Task[None] | None:
        """The ring goes with the tail: a reader that begins later wants nothing of what was before."""
        tail, self._tail, self._ring = self._tail, None, None
        self._log.forget()
        if tail is not None:
            tail.cancel()
        return tail
