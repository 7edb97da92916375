"""The `/engine` namespace: who is let in, and where what is said goes."""

import logging
from typing import Any, Final

from socketio import AsyncNamespace
from socketio.exceptions import ConnectionRefusedError as NotLetIn

from detent.errors import DetentError, Forbidden, ServiceError, Unauthorized
from detent.store.clock import new_id
from detent.surfaces.engine_socket.desk import Desk
from detent.surfaces.engine_socket.offering import Offering
from detent.surfaces.engine_socket.outlet import NAMESPACE, Outlet
from detent.surfaces.engine_socket.presence import Presence
from detent.surfaces.engine_socket.roster import Roster
from detent.surfaces.engine_socket.shaping import refusal_of
from detent.surfaces.engine_socket.visitor import Visitor
from detent.surfaces.http.service import Service
from detent.surfaces.http.telling import escaped, place_of

LET_IN_S: Final = 10.0
log: Final = logging.getLogger("detent.engines")


class EngineNamespace(AsyncNamespace):  # type: ignore[misc]  # the library has no types
    """What one connection says is dealt with in its order, one after the other."""

    def __init__(
        self, service: Service, desk: Desk, roster: Roster, offering: Offering, presence: Presence, outlet: Outlet
    ) -> None:
        super().__init__(NAMESPACE)
        self._service = service
        self._desk = desk
        self._roster = roster
        self._offering = offering
        self._presence = presence
        self._outlet = outlet
        self.visitors: dict[str, Visitor] = {}

    async def trigger_event(self, event: Any, *args: Any) -> Any:
        """Names are anybody's: only the library's own can begin or end a connection."""
        sid = args[0]
        if event == "connect" and sid not in self.visitors:
            return await self._connect(sid, args[-1])
        if event == "disconnect":
            return self._disconnect(sid)
        said = args[1:]
        return await self._said(sid, event, said[0] if said else None)

    async def _connect(self, sid: str, auth: Any) -> bool:
        try:
            self.visitors[sid] = await self._let_in(sid, auth if isinstance(auth, dict) else {})
        except DetentError as error:
            refusal = refusal_of(error)
            raise NotLetIn(refusal.detail, {"code": refusal.code, "detail": refusal.detail}) from None
        except Exception as error:
            raise NotLetIn("internal_error", {"code": "internal_error", "detail": _told(error)}) from None
        return True

    async def _let_in(self, sid: str, auth: dict[str, Any]) -> Visitor:
        service = self._service
        if service.is_closing:
            raise ServiceError("closing")
        if service.settings.is_read_only:
            raise ServiceError("read_only")
        environ = self.server.get_environ(sid, NAMESPACE)
        address, text, tenant = environ.get("REMOTE_ADDR", ""), auth.get("token"), auth.get("tenant")
        text = text if isinstance(text, str) else _bearer(environ)
        grant = await service.door.let_in_with(text, tenant if isinstance(tenant, str) else None, address)
        grant.check("work", "read")
        return Visitor(sid, service, grant, text)

    def forget_the_gone(self, now_s: float) -> None:
        """Who was cut off while it was being let in leaves no word."""
        for sid, visitor in list(self.visitors.items()):
            if now_s - visitor.since_s > LET_IN_S and not self.server.manager.is_connected(sid, NAMESPACE):
                self._disconnect(sid)

    def _disconnect(self, sid: str) -> None:
        """A closed socket loses an engine nothing: its jobs are its own until its heartbeats are missed."""
        visitor = self.visitors.pop(sid, None)
        if visitor is not None:
            visitor.is_gone = True
            visitor.stop_watching()
        engine = self._roster.remove(sid)
        if engine is not None:
            self._presence.leave(engine)
            held = len(engine.held)
            log.info("engine %s has gone, with %d job%s", escaped(engine.name, 64), held, "" if held == 1 else "s")
            self._offering.nudge()

    async def _said(self, sid: str, name: Any, said: Any) -> Any:
        visitor = self.visitors.get(sid)
        if visitor is None:
            return None
        try:
            return await self._desk.answered(visitor, name, said)
        except (Unauthorized, Forbidden) as error:  # its token is good no more
            await self._outlet.emit(sid, "unauthorized", {"code": error.code})
            await self._outlet.send_away(sid)
            return None
        except DetentError as error:
            return refusal_of(error)
        except Exception as error:
            detail = f"the service made a mistake; its log has it as {_told(error)}"
            return {"accepted": False, "code": "internal_error", "detail": detail}


def _bearer(environ: dict[str, Any]) -> str | None:
    scheme, _, text = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    return text.strip() if scheme.lower() == "bearer" else None


def _told(error: Exception) -> str:
    """By its type and place: its message may quote what was said."""
    ref = new_id()
    log.error("a message failed (%s): %s at %s", ref, type(error).__name__, place_of(error))
    return ref
