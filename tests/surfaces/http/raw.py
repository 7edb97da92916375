"""Bytes sent to a service, and all that comes back: for what no decent client would send."""

import re
import select
import socket
import time
from typing import Final

from tests.surfaces.http.serving import HOST, WAIT_S, Served

TRICKLE_S: Final = 0.02  # often enough to look busy
_HEAD_END: Final = b"\r\n\r\n"


def head(service: Served, method: str = "POST", path: str = "/v1/jobs", *lines: str, token: str | None = "") -> bytes:
    who = [] if token is None else [f"Authorization: Bearer {token or service.token}"]
    asked = [f"{method} {path} HTTP/1.1", f"Host: {HOST}", *who, *lines]
    return "\r\n".join([*asked, "", ""]).encode("utf-8", "surrogateescape")


class Line:
    """One connection."""

    def __init__(self, service: Served) -> None:
        self._socket = socket.create_connection((HOST, service.port), timeout=WAIT_S)
        self.began_s = time.monotonic()

    def say(self, data: bytes) -> None:
        self._socket.sendall(data)

    def trickle(self, data: bytes) -> None:
        """Again and again, until the other side says something or hangs up."""
        while not select.select([self._socket], [], [], TRICKLE_S)[0]:
            self._socket.sendall(data)

    def heard(self) -> bytes:
        """All that comes until the other side hangs up."""
        got = b""
        try:
            while part := self._socket.recv(65_536):
                got += part
        except ConnectionResetError:
            return got
        return got

    def answer(self) -> bytes:
        """One answer, with the connection left open."""
        got = b""
        while _HEAD_END not in got:
            part = self._socket.recv(65_536)
            if not part:
                return got
            got += part
        top, _, body = got.partition(_HEAD_END)
        (length,) = re.findall(rb"(?i)content-length: *(\d+)", top)
        while len(body) < int(length):
            body += self._socket.recv(65_536)
        return top + _HEAD_END + body

    def end(self) -> None:
        """Nothing more will be said."""
        self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._socket.close()


def exchanged(service: Served, data: bytes) -> bytes:
    """What comes back before the other side hangs up, or one answer."""
    line = Line(service)
    try:
        line.say(data)
        return line.answer()
    finally:
        line.close()


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0
