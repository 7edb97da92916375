"""The record is followed, and what it says ought to be on the bus is brought there."""

from collections.abc import Callable
from typing import Final

from detent.kernel.clock import micros
from detent.store.clock import host_clock
from detent.surfaces.bus.link import Link
from detent.surfaces.bus.outbox import Outbox
from detent.surfaces.bus.settings import LEASE_MARGIN_S
from detent.surfaces.http.live import Ended, Item
from detent.surfaces.http.service import Service

# What neither publishes a job nor ends one, nor makes room for another.
_IDLE: Final = frozenset({"renew", "progress", None})
# After these something may have to be put on the bus.
_TOLD: Final = frozenset({"claim", "fail", "cancel", "request_cancel", "deny", "time_out", "expire"})


class Following:
    """`stir` is told of every move of a job in one of the bus's topics, by its verb."""

    def __init__(self, service: Service, outbox: Outbox, link: Link, stir: Callable[[str], None]) -> None:
        self._service = service
        self._outbox = outbox
        self._link = link
        self._stir = stir
        self._followed = 0  # until when

    async def follow(self) -> None:
        """Until the reader is cut off, or the bus. Whoever follows again looks first at what happened in between."""
        async with self._service.hubs.reader(self._link.settings.tenant) as reader:
            began = host_clock()
            await self._outbox.sweep(self._since())
            self._followed = max(self._followed, began)
            while not isinstance(batch := await reader.batch(), Ended):
                await self._look([item for item in batch if item.queue is not None and item.queue in self._link.topics])
                self._followed = max([self._followed, *(item.event.at for item in batch)])

    async def _look(self, items: list[Item]) -> None:
        for verb in {item.event.verb for item in items} - _IDLE:
            self._stir(str(verb))
        await self._outbox.bring_by_id(item.event.job_id for item in items if item.event.verb in _TOLD)

    def _since(self) -> int:
        """Not as far back as the bus remembers: what it has forgotten would be published twice. And hardly farther than
        it was followed already.
        """
        window = host_clock() - micros(self._link.settings.window_s - LEASE_MARGIN_S)
        return max(window, self._followed - micros(LEASE_MARGIN_S))
