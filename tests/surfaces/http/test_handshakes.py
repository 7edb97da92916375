"""Connections that never finish their handshake are bounded like all others."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from detent import connect
from detent.surfaces.http.listening import listen
from detent.surfaces.http.service import Service
from detent.surfaces.http.serving import Serving, Tls
from detent.surfaces.http.settings import Settings
from tests.surfaces.http.certificates import certificate
from tests.surfaces.http.serving import HOST, WAIT_S

RECEIPT_S: Final = 1.0
ASKED: Final = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


class Site:
    def __init__(self, folder: Path, **settings: Any) -> None:
        self.cert, key = certificate(folder)
        self._listener = listen(HOST, 0)
        service = Service(connect(f"sqlite:///{folder}/jobs.db"), Settings(reconcile_s=None, **settings))
        self._serving = Serving(service, self._listener, Tls(str(self.cert), str(key)))
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        assert self._ready.wait(WAIT_S)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._serving.run(self._is_ready)

    async def _is_ready(self) -> None:
        self._ready.set()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._serving.stop)
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()

    def line(self) -> socket.socket:
        return socket.create_connection((HOST, self._listener.port), timeout=WAIT_S)

    def answer(self) -> bytes:
        """To a request that comes at once with the last of the handshake; nothing, if it was hung up on."""
        context = ssl.create_default_context(cafile=str(self.cert))
        try:
            with self.line() as line, context.wrap_socket(line, server_hostname=HOST) as secured:
                secured.sendall(ASKED)
                return heard(secured)
        except (ConnectionError, ssl.SSLError):
            return b""


def heard(line: socket.socket) -> bytes:
    got = b""
    while part := line.recv(65_536):
        got += part
    return got


@contextmanager
def site(folder: Path, **settings: Any) -> Iterator[Site]:
    one = Site(folder, **settings)
    try:
        yield one
    finally:
        one.stop()


def test_request_is_answered_over_tls(tmp_path: Path) -> None:
    with site(tmp_path) as one:
        answer = one.answer()

    assert answer.startswith(b"HTTP/1.1 200")
    assert b"strict-transport-security" in answer


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/1.1\r\n\r\n"])
def test_handshake_that_is_none_is_not_waited_for(tmp_path: Path, said: bytes) -> None:
    with site(tmp_path, receipt_s=RECEIPT_S) as one, closing(one.line()) as line:
        line.settimeout(30)  # far less than asyncio's own minute
        line.sendall(said)
        try:
            got = heard(line)
        except ConnectionResetError:
            got = b""

        assert b"HTTP" not in got


def test_handshake_has_one_of_the_connections_that_may_be(tmp_path: Path) -> None:
    with site(tmp_path, connections_max=3) as one, ExitStack() as stack:
        silent = [stack.enter_context(closing(one.line())) for _ in range(3)]
        while one.answer():  # until all of them have been accepted
            continue
        silent[0].close()
        while not (answer := one.answer()):
            continue

        assert answer.startswith(b"HTTP/1.1 200")


def test_service_does_not_wait_for_handshakes_when_it_stops(tmp_path: Path) -> None:
    one = Site(tmp_path)
    with closing(one.line()) as line:
        one.answer()
        one.stop()

        assert line.recv(1) == b""
