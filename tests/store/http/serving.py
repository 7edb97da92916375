"""A service in this process, on a port and an event loop of its own, over whichever store a test gives it."""

import asyncio
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import uvicorn
from msgspec import structs
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from detent.client import Client, Codec
from detent.client.connecting import Connecting
from detent.lifecycles import BUILT_IN
from detent.store import Store
from detent.store.http import Address, HttpStore
from detent.store.sqlite import File, SqliteStore
from detent.surfaces.http.asgi import app_of
from detent.surfaces.http.service import Service
from detent.surfaces.http.settings import Settings

Result = TypeVar("Result")
START_S: Final = 10.0
QUIET: Final = Settings(reconcile_s=None, rate_max=1e9, burst_max=2**31)


class Serving:
    """One server for as many services as tests want, one after the other: to start one takes longer than a test."""

    def __init__(self) -> None:
        # Of a socket that does not say it is TCP's, asyncio leaves small packets waiting for 40 ms.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._app: ASGIApp | None = None
        self._service: Service | None = None
        self._losing: str | None = None
        self.is_lost = False
        self.client: Client | None = None  # of what is served, past the service
        config = uvicorn.Config(
            self._serve, lifespan="off", interface="asgi3", ws="none", log_level="critical", loop="asyncio"
        )
        self._server = uvicorn.Server(config)
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tests-service", daemon=True)
        self._thread.start()
        assert self._started.wait(START_S)

    def open(self, store: Store, settings: Settings = QUIET) -> Client:
        """Serve this store from now on. The client is one past the service, for what a test looks up itself."""
        self.close()
        client = Client(store, tenant="default", codec=Codec(), lifecycles=tuple(BUILT_IN.values()))
        self.client = client
        self._service = Service(Connecting(client), settings)
        self.await_(self._service.open())
        self._app = app_of(self._service)
        return client

    def close(self) -> None:
        """Serve nothing any more."""
        service, self._service, self._app = self._service, None, None
        if service is not None:
            self.await_(service.close())

    def lose(self, path: str) -> None:
        """Carry out the next request on that path that has to do with a job, and let nobody hear of it."""
        self._losing, self.is_lost = path, False

    def token(self, client: Client, *scopes: str, **more: Any) -> str:
        """A token that is made past the service."""
        given = {"expires_s": None, **more}
        return self.await_(client.create_token(given.pop("name", "tests"), scopes=scopes, **given)).text

    def store(self, token: str | None, **more: Any) -> HttpStore:
        return HttpStore(Address(url=self.url, token=token, **more))

    def await_(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(START_S)

    def stop(self) -> None:
        self.close()
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        asyncio.run(self._served())

    async def _served(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.call_later(0.01, self._started.set)
        await self._server.serve([self._socket])

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._app is not None, "a test asks while nothing is served"
        if scope["path"] != self._losing:
            await self._app(scope, receive, send)
            return
        messages: list[Message] = []
        await self._app(scope, receive, partial(_keep, messages))
        if any(b'"id"' in message.get("body", b"") for message in messages):
            self._losing, self.is_lost = None, True
            raise ConnectionResetError("the answer is lost, as the test wants it")
        for message in messages:
            await send(message)


async def _keep(messages: list[Message], message: Message) -> None:
    messages.append(message)


@contextmanager
def served(server: Serving, folder: Path, *, reconcile_s: float) -> Iterator[str]:
    """The token of somebody who may do everything, at a service over an empty file."""
    settings = structs.replace(QUIET, reconcile_s=reconcile_s)
    client = server.open(SqliteStore(File(str(folder / "jobs.db"), synchronous="normal")), settings)
    yield server.token(client, "admin", any_tenant=True)
    server.close()


@contextmanager
def serving() -> Iterator[Serving]:
    server = Serving()
    try:
        yield server
    finally:
        server.stop()
