"""The socket for engines, as a part of a service: Socket.IO under `/socket.io`, beside the routes."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from socketio import AsyncServer
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from detent.errors import DetentError, ServiceError
from detent.store.fleet import REPORT_S
from detent.surfaces.engine_socket.desk import Desk
from detent.surfaces.engine_socket.following import Following
from detent.surfaces.engine_socket.namespace import EngineNamespace
from detent.surfaces.engine_socket.offering import Offering
from detent.surfaces.engine_socket.outlet import NAMESPACE, Outlet
from detent.surfaces.engine_socket.packets import Json, TextPacket
from detent.surfaces.engine_socket.presence import Presence
from detent.surfaces.engine_socket.roster import Roster
from detent.surfaces.engine_socket.settings import EngineSettings
from detent.surfaces.engine_socket.shaping import Shaping
from detent.surfaces.engine_socket.watching import Watching
from detent.surfaces.http.answering import refusal
from detent.surfaces.http.origins import check_local
from detent.surfaces.http.service import Service
from detent.surfaces.http.telling import place_of
from detent.surfaces.minding import minded
from detent.surfaces.telemetry import families
from detent.surfaces.telemetry.exposition import alone
from detent.surfaces.telemetry.service import Families

PATH: Final = "/socket.io"
SWEEP_S: Final = 0.2
log: Final = logging.getLogger("detent.engines")


class EngineSocket:
    """Attached to a service: opened after it, closed before it."""

    mounted_at: str | None = PATH

    def __init__(self, settings: EngineSettings | None = None) -> None:
        self.settings = settings or EngineSettings()
        self._server = AsyncServer(
            async_mode="asgi", async_handlers=False, always_connect=False, json=Json, serializer=TextPacket,
            max_http_buffer_size=self.settings.message_bytes_max, http_compression=False, logger=_silent("socketio"),
            engineio_logger=_silent("engineio"), namespaces=[NAMESPACE],
        )  # fmt: skip
        self.roster = Roster(self.settings.engines_max)
        self._duties: list[asyncio.Future[None]] = []
        self._followed: dict[str, asyncio.Future[None]] = {}
        self._strangers: dict[str, float] = {}

    # -- from beginning to end

    async def open(self, service: Service) -> None:
        self._service = service
        legacy = self.settings.emits_legacy
        shaping, self._outlet = Shaping(legacy=legacy), Outlet(self._server)
        self._offering = Offering(service, self.roster, self._outlet, shaping, self.settings)
        self._following = Following(service, self.roster, self._outlet, shaping)
        watching = Watching(service, self._outlet, legacy=legacy)
        desk = Desk(self.roster, self._offering, watching, self._outlet, shaping)
        self._presence = Presence(service, self.roster)
        self._namespace = EngineNamespace(service, desk, self.roster, self._offering, self._presence, self._outlet)
        self._server.register_namespace(self._namespace)
        self._begin("offer", self._offering.round)
        self._begin("hear of work", self._hear)
        self._begin("look after engines", self._sweep)
        self._begin("report engines", self._report)

    async def send_away(self) -> None:
        """Engines connect again, to this service or another, and go on with what they hold. There is nothing to tell
        them any more, and no tail of the log to learn it from.
        """
        for following in self._followed.values():
            following.cancel()
        for sid in list(self._namespace.visitors):
            await self._outlet.emit(sid, "closing", {})
            await self._outlet.close(sid)

    async def close(self) -> None:
        await self.send_away()
        duties = [*self._duties, *self._followed.values()]
        for duty in duties:
            duty.cancel()
        await asyncio.gather(*duties, return_exceptions=True)
        await self._server.shutdown()

    def families(self, tenant: str) -> Families:
        return [(families.ENGINES, alone(len(self.roster.of_tenant(tenant))))]

    # -- what comes over the line

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check(scope)
            await self._server.handle_request(scope, receive, send)
        except DetentError as error:
            if scope["type"] == "http":
                await refusal(error)(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008})
        except Exception as error:
            if scope["type"] == "http":
                raise
            # Whoever sends what is no packet of Engine.IO's has the library fail, and a server would tell all of it.
            log.info("a connection ended with %s at %s", type(error).__name__, place_of(error))

    def _check(self, scope: Scope) -> None:
        settings, headers = self._service.settings, Headers(scope=scope)
        if not settings.is_authenticating:
            check_local(headers, settings.hosts)
        if self._service.is_closing:
            raise ServiceError("closing")
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length[:20]) > self.settings.message_bytes_max:
            message = f"a message has at most {self.settings.message_bytes_max:,} bytes; send less at a time"
            raise ServiceError("message_too_large", message)

    # -- what is done all the time

    def _begin(self, what: str, work: Callable[[], Awaitable[None]]) -> None:
        self._duties.append(asyncio.ensure_future(minded(what, work, log)))

    async def _hear(self) -> None:
        mark: str | None = None
        while True:
            mark = await self._offering.hear(mark)

    async def _sweep(self) -> None:
        """Tenants that have engines are followed, others no more; who does not say who it is has to go."""
        await asyncio.sleep(SWEEP_S)
        self._follow()
        self._namespace.forget_the_gone(asyncio.get_running_loop().time())
        await self._send_strangers_away()
        await self._presence.catch_up()

    def _follow(self) -> None:
        if self._service.is_closing:
            return
        tenants = self.roster.tenants
        for tenant in [each for each in self._followed if each not in tenants]:
            self._followed.pop(tenant).cancel()
        for tenant in tenants:
            if tenant not in self._followed:
                telling = minded("tell engines", lambda tenant=tenant: self._following.follow(tenant), log)  # type: ignore[misc]
                self._followed[tenant] = asyncio.ensure_future(telling)

    async def _send_strangers_away(self) -> None:
        now_s = asyncio.get_running_loop().time()
        known = {self._server.manager.eio_sid_from_sid(sid, NAMESPACE) for sid in self._namespace.visitors}
        strangers = [sid for sid in list(self._server.eio.sockets) if sid not in known]
        self._strangers = {sid: self._strangers.get(sid, now_s) for sid in strangers}
        for sid, since_s in self._strangers.items():
            if now_s - since_s >= self.settings.connect_s:
                await self._outlet.hang_up(sid)

    async def _report(self) -> None:
        await self._presence.report()
        await asyncio.sleep(REPORT_S)


def _silent(name: str) -> logging.Logger:
    """What the libraries say quotes what was sent, and anybody can make them say it."""
    logger = logging.getLogger(f"detent.engines.{name}")
    logger.setLevel(logging.CRITICAL + 1)
    return logger
