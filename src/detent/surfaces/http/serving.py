"""A service in a process of its own: uvicorn around the ASGI app, and an end in good order.

Told to stop, the service is not ready from that moment on, and begins nothing new. Whoever waits for work is sent away
with none, live readers are told where they are, and requests that are under way have a while to finish. Told again, it
does not wait for them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import uvicorn
from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from detent.errors import DetentError, ServiceError, StoreError
from detent.surfaces.http.answering import refusal
from detent.surfaces.http.asgi import Sending, app_of
from detent.surfaces.http.handshakes import Handshakes
from detent.surfaces.http.listening import Listener
from detent.surfaces.http.receiving import protocol_of
from detent.surfaces.http.service import Service
from detent.surfaces.http.settings import Settings

KEEP_ALIVE_S: Final = 75  # longer than proxies keep a connection that nobody uses, so that it is theirs to close
WEBSOCKET_BYTES_MAX: Final = 1_048_576  # of one message
LAST_WORD_S: Final = 1.0  # for requests that are cut off to be told so
_LOOKING: Final = ("GET", "HEAD")


class Tls(Struct, frozen=True):
    cert: str
    key: str | None = None


class Look(Struct, frozen=True, kw_only=True):
    """How a service is at a moment."""

    requests: int
    connections: int
    waiting: int
    streams: int
    is_closing: bool


class Serving:
    """Made of a service that is not open yet: it is opened when this runs, and closed at the end."""

    def __init__(self, service: Service, listener: Listener, tls: Tls | None = None) -> None:
        self._service = service
        self._listener = listener
        self._server = _Server(_config(Cut(app_of(service), service), service, tls))
        self._server.config.load()  # what is wrong with the certificate is seen before anything is opened
        self._handshakes = _taken_over(self._server.config, service.settings)
        self._sending_away: asyncio.Task[None] | None = None

    async def run(self, ready: Callable[[], Awaitable[None]], signals: Sequence[int] = ()) -> None:
        """Until somebody stops it. `ready` is called when the store is open: who connects from then on is answered."""
        await self._service.open()
        with self._heeding(signals):
            try:
                await ready()
                await self._server.serve(self._listener.sockets)
                await self._last_words()
            finally:
                await self._service.close()

    def stop(self) -> None:
        """In good order; a second time: at once."""
        if self._sending_away is None:
            self._service.begin_closing()
            self._sending_away = asyncio.ensure_future(self._service.send_away())
            if self._handshakes is not None:
                self._handshakes.cut_off()
            self._server.should_exit = True
        else:
            self._server.force_exit = True
            self._cut_off()

    def look(self) -> Look:
        state, service = self._server.server_state, self._service
        return Look(
            requests=state.total_requests, connections=len(state.connections), waiting=service.lines.waiters,
            streams=service.hubs.readers, is_closing=service.is_closing,
        )  # fmt: skip

    @contextmanager
    def _heeding(self, signals: Sequence[int]) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for each in signals:
            loop.add_signal_handler(each, self.stop)
        try:
            yield
        finally:
            for each in signals:
                loop.remove_signal_handler(each)

    async def _last_words(self) -> None:
        """What is still under way has had its time; it was cut off, and says so."""
        self._cut_off()
        if self._server.server_state.tasks:
            await asyncio.wait(self._server.server_state.tasks, timeout=LAST_WORD_S)

    def _cut_off(self) -> None:
        for task in self._server.server_state.tasks:
            task.cancel()


class Cut:
    """Around the app: a request that is cut off at the end is answered, if its answer had not begun.

    One that had not arrived, or only looks, can be asked again. Of any other nobody knows what becomes of it: the store
    may carry it out yet.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_begun, may_happen = False, _has_arrived(scope)

        async def taking() -> Message:
            nonlocal may_happen
            message = await receive()
            may_happen = may_happen or not (message.get("more_body") or scope["method"] in _LOOKING)
            return message

        async def noting(message: Message) -> None:
            nonlocal is_begun
            is_begun = True
            await send(message)

        try:
            await self._app(scope, taking, noting)
        except asyncio.CancelledError:
            if is_begun or not self._service.is_closing:
                raise
            sending = Sending(send, is_secure=scope.get("scheme") == "https")
            await refusal(_cut_off(may_happen=may_happen))(scope, receive, sending)


def _has_arrived(scope: Scope) -> bool:
    """Whether it asks for a change, and says all of it in its head: nobody waits for a body then."""
    named = {name for name, value in scope["headers"] if value != b"0"}
    return scope["method"] not in _LOOKING and named.isdisjoint({b"content-length", b"transfer-encoding"})


def _cut_off(*, may_happen: bool) -> DetentError:
    if not may_happen:
        return ServiceError("closing")
    message = "the service was stopped in the midst of this; whether it was carried out is not known"
    return StoreError(f"{message}. Look before you ask again, or repeat it with its request id", code="outcome_unknown")


class _Server(uvicorn.Server):
    """Signals are not uvicorn's business here."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _taken_over(config: uvicorn.Config, settings: Settings) -> Handshakes | None:
    """Uvicorn reads the certificate, and the handshakes are ours: in its hands they are not counted."""
    if config.ssl is None:
        return None
    handshakes = Handshakes(config.ssl, settings)
    config.ssl, config.http_protocol_class = None, handshakes.protocol  # type: ignore[assignment]
    return handshakes


def _config(app: ASGIApp, service: Service, tls: Tls | None) -> uvicorn.Config:
    """Nothing that a caller writes into a header changes who it is taken for: a proxy's headers are not read."""
    settings = service.settings
    return uvicorn.Config(
        app,
        http=protocol_of(settings),
        ws="wsproto" if any(each.mounted_at for each in service.attached) else "none",
        ws_max_size=WEBSOCKET_BYTES_MAX,
        ws_per_message_deflate=False,  # what is small on the line may be large unpacked
        lifespan="off",  # the service is opened here, so that what is wrong with the store is an error of ours
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=settings.drain_s,  # type: ignore[arg-type]  # parts of a second are fine
        ssl_certfile=None if tls is None else tls.cert,
        ssl_keyfile=None if tls is None else tls.key,
    )
