"""Connections: how many there may be, how long one may dawdle, and what is said before any app is asked.

Uvicorn waits for the head of a request for as long as it takes, and for a reader of an answer, too; and it says in
plain text what it does not understand. Here all that has bounds, and every answer is a problem with a code.
"""

import asyncio
from collections.abc import Callable
from typing import ClassVar, Final

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from detent.errors import ServiceError
from detent.surfaces.http.answering import SECURITY_HEADERS
from detent.surfaces.http.settings import Settings
from detent.wire.http.problems import MEDIA_TYPE, RETRY_AFTER_S, problem_of

SEND_S: Final = 30.0  # whoever takes nothing of its answer for so long has gone, or might as well have
_REASONS: Final = {400: "Bad Request", 408: "Request Timeout", 503: "Service Unavailable"}


class Patience:
    """One timer, which runs or does not. Begun twice, it goes on as it was."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, seconds: float, then: Callable[[], None]) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, then)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Receiving(H11Protocol):
    settings: ClassVar[Settings] = Settings()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.access_log = False  # it would have whole queries; the service has a log of its own (`telling`)
        self._arriving, self._leaving = Patience(), Patience()
        if len(self.connections) > self.settings.connections_max:
            self._refuse(ServiceError("too_many_connections"))
        else:
            self._arriving.begin(self.settings.receipt_s, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._arriving.end()
        self._leaving.end()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.trailing_data[0]:
            self._watch()
        else:
            self._arriving.end()  # uvicorn has its own patience with one that says nothing

    def pause_writing(self) -> None:
        super().pause_writing()
        self._leaving.begin(SEND_S, self.transport.abort)

    def resume_writing(self) -> None:
        self._leaving.end()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """What came is not HTTP. If an answer is under way already, there is nothing left to say."""
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.close()
        else:
            self._refuse(ServiceError("not_http"))

    def _watch(self) -> None:
        """The clock runs from the first byte of a head to its last, however many bytes come in between."""
        if not self._is_dawdling():
            self._arriving.end()
        elif not self.transport.is_closing():
            self._arriving.begin(self.settings.receipt_s, self._give_up)

    def _is_dawdling(self) -> bool:
        """In the middle of a head; or of a body that nobody waits for any more."""
        is_answered = self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY
        return self.conn.their_state is h11.IDLE or is_answered

    def _give_up(self) -> None:
        if self.conn.our_state is h11.IDLE:
            seconds = self.settings.receipt_s
            self._refuse(ServiceError("receipt_timed_out", f"no request arrived within {seconds:g} s; send it again"))
        else:
            self.transport.abort()

    def _refuse(self, error: ServiceError) -> None:
        if not self.transport.is_closing():
            self.transport.write(_response(error))
            self.transport.close()


def _response(error: ServiceError) -> bytes:
    problem = problem_of(error)
    body = msgspec.json.encode(problem)
    headers = SECURITY_HEADERS | {"content-type": MEDIA_TYPE, "content-length": str(len(body)), "connection": "close"}
    if problem.code in RETRY_AFTER_S:
        headers["retry-after"] = str(RETRY_AFTER_S[problem.code])
    lines = [f"HTTP/1.1 {problem.status} {_REASONS[problem.status]}", *(f"{name}: {headers[name]}" for name in headers)]
    return "\r\n".join([*lines, "", ""]).encode() + body


def protocol_of(settings: Settings) -> type[Receiving]:
    """For `uvicorn.Config(http=…)`."""
    return type("Receiving", (Receiving,), {"settings": settings})
