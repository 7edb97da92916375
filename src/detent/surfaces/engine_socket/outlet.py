"""What goes out to those who are connected, and who is cut off because it takes nothing of it."""

import asyncio
import logging
from typing import Any, Final

from msgspec import to_builtins
from socketio import AsyncServer

from detent.wire.shape import CamelShape

NAMESPACE: Final = "/engine"
WAITING_MAX: Final = 2_000  # messages that somebody has not taken yet
PAUSE_AT: Final = 200  # from so many on, whoever has more to say waits
PAUSE_S: Final = 0.05
log: Final = logging.getLogger("detent.engines")


class Outlet:
    def __init__(self, server: AsyncServer) -> None:
        self._server = server

    async def emit(self, sid: str, name: str, data: CamelShape | dict[str, Any], *more: str) -> None:
        """To one connection. Whoever has left hears nothing, and whoever takes nothing is sent away."""
        waiting = self._waiting(sid)
        if waiting is None:
            return
        if waiting >= WAITING_MAX:
            log.warning("a connection takes nothing of what it is sent, and is closed")
            await self.hang_up(self._server.manager.eio_sid_from_sid(sid, NAMESPACE))
            return
        said = to_builtins(data)
        await self._server.emit(name, (said, *more) if more else said, to=sid, namespace=NAMESPACE)

    async def ready_for_more(self, sid: str) -> bool:
        """Once most of what was sent has been taken. False: nobody is there any more."""
        while (waiting := self._waiting(sid)) is not None:
            if waiting < PAUSE_AT:
                return True
            await asyncio.sleep(PAUSE_S)
        return False

    async def send_away(self, sid: str) -> None:
        """For good: clients do not connect again by themselves."""
        await self._server.disconnect(sid, namespace=NAMESPACE)

    async def close(self, sid: str) -> None:
        """As a network would: clients connect again."""
        await self.hang_up(self._server.manager.eio_sid_from_sid(sid, NAMESPACE))

    async def hang_up(self, line: str | None) -> None:
        """At once: whoever is told to close a connection may take its time."""
        socket = self._server.eio.sockets.pop(line, None)
        if socket is not None:
            await socket.close(wait=False, abort=True)
            socket.queue.put_nowait(None)  # with which its writer ends, once it has written what came before

    def _waiting(self, sid: str) -> int | None:
        """How much it has not taken yet; None: it is not there."""
        manager = self._server.manager
        if not manager.is_connected(sid, NAMESPACE):
            return None
        socket = self._server.eio.sockets.get(manager.eio_sid_from_sid(sid, NAMESPACE))
        return None if socket is None else socket.queue.qsize()
