"""A service on a free port of this machine, over a store of its own, and what a test asks it."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

import msgspec
import urllib3
import uvicorn

from detent import connect
from detent.client.tokens import NewToken
from detent.surfaces.http.asgi import app_of
from detent.surfaces.http.receiving import protocol_of
from detent.surfaces.http.service import Service
from detent.surfaces.http.settings import Settings

HOST: Final = "127.0.0.1"
WAIT_S: Final = 60.0
SCOPES: Final = ("submit", "work", "read", "operate", "admin")


class Answer(msgspec.Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def said(self) -> Any:
        return msgspec.json.decode(self.body) if self.body else None

    @property
    def code(self) -> str | None:
        """Of a problem."""
        is_problem = self.headers.get("content-type") == "application/problem+json"
        return self.said["code"] if is_problem else None


class Served:
    """`token` is what `ask` presents if nothing else is said: an admin's, of any tenant."""

    def __init__(self, url: str, port: int, service: Service, token: str) -> None:
        self.url = url
        self.port = port
        self.service = service
        self.token = token
        self.address = f"http://{HOST}:{port}"
        self._pool = urllib3.HTTPConnectionPool(HOST, port, maxsize=20, retries=False, timeout=WAIT_S)

    def ask(
        self,
        method: str,
        path: str,
        said: Any = None,
        *,
        token: str | None = "",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        """`token` None: none at all. `said` goes as JSON, `body` as it is."""
        given = dict(headers or {})
        if token is not None:
            given.setdefault("authorization", f"Bearer {token or self.token}")
        if said is not None:
            body = msgspec.json.encode(said)
        if body is not None:
            given.setdefault("content-type", "application/json")
        answered = self._pool.request(method, path, body=body, headers=given)
        headers_lowered = {name.lower(): value for name, value in answered.headers.items()}
        return Answer(answered.status, headers_lowered, answered.data)

    def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for what another thread brings about."""
        deadline_s = monotonic() + WAIT_S
        while not is_so():
            assert monotonic() < deadline_s, "it did not come to that"
            sleep(0.01)

    def close(self) -> None:
        """Else a socket is found to be open by whatever test comes next."""
        self._pool.close()

    def job(self, kind: str = "work", **arguments: Any) -> dict[str, Any]:
        """A new one."""
        answer = self.ask("POST", "/v1/jobs", {"kind": kind, **arguments})
        assert answer.status in (200, 201), answer.body
        made: dict[str, Any] = answer.said
        return made

    def claimed(self, worker: str = "w1", **arguments: Any) -> dict[str, Any]:
        """A job that is its worker's."""
        job = self.job(**arguments)
        (taken,) = self.ask("POST", "/v1/claims", {"worker": worker, "limit": 1000}).said["jobs"][-1:]
        assert taken["id"] == job["id"]
        claimed: dict[str, Any] = taken
        return claimed

    def new_token(self, *scopes: str, tenant: str = "default", name: str = "t", **more: Any) -> NewToken:
        with connect(self.url, tenant=tenant) as client:
            return client.create_token(name, scopes=scopes or ("admin",), **more)


@contextmanager
def served(folder: Path, **settings: Any) -> Iterator[Served]:
    url = f"sqlite:///{folder}/jobs.db"
    with connect(url) as client:
        token = client.create_token("root", scopes=["admin"], any_tenant=True)
    service = Service(connect(url), Settings(**({"rate_max": 1e6, "burst_max": 1_000_000} | settings)))
    with running(service) as port:
        one = Served(url, port, service, token.text)
        try:
            yield one
        finally:
            one.close()


@contextmanager
def running(service: Service, **options: Any) -> Iterator[int]:
    """On a thread of its own; the port."""
    config = uvicorn.Config(
        options.pop("app", None) or app_of(service), host=HOST, port=0, http=protocol_of(service.settings), ws="none",
        lifespan="on", log_config=None, server_header=False, proxy_headers=False, timeout_graceful_shutdown=5,
        timeout_keep_alive=max(1, round(service.settings.receipt_s)), **options,
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(_serve(server, ready)), daemon=True)
    ready = threading.Event()
    thread.start()
    assert ready.wait(WAIT_S)
    assert server.started
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(WAIT_S)
        assert not thread.is_alive()


async def _serve(server: uvicorn.Server, ready: threading.Event) -> None:
    serving = asyncio.ensure_future(server.serve())
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    ready.set()
    await serving
