"""The bus, as a part of a service: it comes when the bus does, and the service never waits for it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from nats.aio.subscription import Subscription
from starlette.types import Receive, Scope, Send

from detent.runtime.duty import nudged_within
from detent.runtime.gate import Gate
from detent.surfaces.bus.dispatching import Dispatcher
from detent.surfaces.bus.following import Following
from detent.surfaces.bus.intake import Intake
from detent.surfaces.bus.judging import Judge
from detent.surfaces.bus.link import Link
from detent.surfaces.bus.outbox import Outbox
from detent.surfaces.bus.pools import Pools
from detent.surfaces.bus.settings import BusSettings
from detent.surfaces.http.service import Service
from detent.surfaces.minding import minded
from detent.surfaces.telemetry.service import Families

LOOK_S: Final = 0.5  # for pools that have come, and for what nobody was told of
REPORT_LOOK_S: Final = 0.5
STREAMS_LOOK_S: Final = 10.0
REJOIN_S: Final = 0.25  # after the bus was lost
log: Final = logging.getLogger("detent.bus")


class Bus:
    """Attached to a service: opened after it, closed before it. Nothing arrives for it over HTTP."""

    mounted_at: str | None = None

    def __init__(self, url: str, settings: BusSettings | None = None) -> None:
        """What is wrong with its keys or its rules is told here, before anything is opened."""
        self.settings = settings or BusSettings()
        self._link = Link(url, self.settings)
        self._gate = Gate(self.settings.rules)
        self._gate.check()
        self._ready, self._waiting = asyncio.Event(), asyncio.Event()
        self._joining: asyncio.Future[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("a bus is mounted nowhere")

    # -- from beginning to end

    async def open(self, service: Service) -> None:
        client = service.client_of(self.settings.tenant)
        self._pools = Pools(client, self._link)
        self._intake = Intake(client, self._link, self._pools.answered)
        self._outbox = Outbox(client, self._link)
        self._dispatcher = Dispatcher(client, self._link, self._pools)
        self._judge = Judge(client, self._gate, self._link, self._ready.set)
        self._following = Following(service, self._outbox, self._link, self._stir)
        self._joining = asyncio.ensure_future(minded("join the bus", self._join, log))
        self._joining.add_done_callback(_tell_end)

    async def send_away(self) -> None:
        """Nobody is connected to a service by its bus. What comes from now on is kept there, for the next service."""
        if self._joining is not None:
            self._joining.cancel()
            await asyncio.wait([self._joining])

    async def close(self) -> None:
        await self.send_away()
        await self._link.close()

    def families(self, tenant: str) -> Families:
        is_own = tenant == self.settings.tenant
        return self._link.counts.families(is_connected=self._link.is_connected) if is_own else ()

    # -- what is done all the time

    async def _join(self) -> None:
        """As soon as the bus is there, and until it is lost; then it is joined anew."""
        await self._link.open()
        await self._pools.open()
        inbox = await self._link.inbox()
        log.info("on the bus at %s, as '%s'", self._link.shown, self.settings.name)
        duties = [asyncio.ensure_future(minded(what, work, log)) for what, work in self._duties(inbox).items()]
        try:
            await self._link.lost.wait()
            log.warning("the bus is lost; it is tried again")
            await asyncio.sleep(REJOIN_S)
        finally:
            for each in duties:
                each.cancel()
            await asyncio.wait(duties)

    def _duties(self, inbox: Subscription) -> dict[str, Callable[[], Awaitable[None]]]:
        return {
            "take in from the bus": lambda: self._intake.take(inbox),
            "ask the policy": self._judging,
            "dispatch to pools": self._dispatching,
            "bring to the bus": self._following.follow,
            "report pools": self._reporting,
            "look after the bus": self._looking,
        }

    def _stir(self, verb: str) -> None:
        """By what has happened to a job: a new one waits for its verdict, and any other move may have made room."""
        (self._waiting if verb == "enqueue" else self._ready).set()

    async def _judging(self) -> None:
        await nudged_within(LOOK_S, self._waiting)
        self._waiting.clear()
        await self._judge.judge()

    async def _dispatching(self) -> None:
        """What is claimed is brought at once; should that fail, whoever follows the record brings it."""
        await nudged_within(LOOK_S, self._ready)
        self._ready.clear()
        if self._link.is_connected:
            async for claimed in self._dispatcher.dispatch():
                self._ready.set()  # there may be more
                await self._outbox.bring(claimed)
                await self._outbox.call_off_late(claimed)

    async def _reporting(self) -> None:
        await self._pools.report()
        await asyncio.sleep(REPORT_LOOK_S)

    async def _looking(self) -> None:
        await asyncio.sleep(STREAMS_LOOK_S)
        await self._link.look()


def _tell_end(joining: asyncio.Future[None]) -> None:
    """A duty ends with an error only by a mistake of ours, which nobody else would hear of until the service stops."""
    if not joining.cancelled() and (error := joining.exception()) is not None:
        log.error("the service is off the bus until it is started again", exc_info=error)
