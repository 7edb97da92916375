"""A live reader of events, as plain as can be: a socket, and what came over it."""

import re
import socket
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from tests.surfaces.http.serving import HOST, WAIT_S

_DATA: Final = re.compile(rb"data: (.*)\n")


class Stream:
    """Entered, its head has been read."""

    def __init__(self, port: int, token: str | None, query: str = "", headers: str = "") -> None:
        self._socket = socket.create_connection((HOST, port), timeout=WAIT_S)
        who = f"Authorization: Bearer {token}\r\n" if token is not None else ""
        self._socket.sendall(
            f"GET /v1/events{query} HTTP/1.1\r\nHost: localhost\r\n{who}Accept: text/event-stream\r\n"
            f"{headers}\r\n".encode()
        )
        self._got = b""

    def __enter__(self) -> Self:
        self.until(b"\r\n\r\n")
        self.status = int(self._got.split(b" ", 2)[1])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    @property
    def text(self) -> bytes:
        return self._got

    @property
    def events(self) -> list[Any]:
        return [msgspec.json.decode(each) for each in _DATA.findall(self._got)]

    def until(self, text: bytes) -> None:
        """Read on, until this has come."""
        while text not in self._got:
            part = self._socket.recv(65_536)
            assert part, f"the stream ended without {text!r}: {self._got!r}"
            self._got += part

    def more(self) -> None:
        """Whatever comes next."""
        self._got += self._socket.recv(65_536)

    def rest(self) -> bytes:
        """Until the service ends it."""
        while part := self._socket.recv(65_536):
            self._got += part
            if part.endswith(b"0\r\n\r\n"):
                break
        return self._got
