"""Connections to one service: kept open between calls, so many at most; and those on which somebody waits, apart."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

from detent.store.http.address import Address
from detent.store.waiting import now_s

IDLE_S: Final = 2.0  # unused for longer, a connection may be being closed by the other side just now
WAITING_KEPT: Final = 4  # connections for waiting that are kept open; more are opened as they are needed
_local: Final = threading.local()


class Stopped(Exception):
    """Whoever waited for the answer does not any more."""


class Call:
    """One request under way. It can be cut off from another thread: the service then knows that nobody waits."""

    def __init__(self) -> None:
        self.is_stopped = False
        self._connection: HTTPConnection | None = None
        self._lock = threading.Lock()  # whoever stops it must not shut what has just become another call's

    def uses(self, connection: HTTPConnection) -> None:
        with self._lock:
            if self.is_stopped:
                raise Stopped
            self._connection = connection

    def let_go(self) -> None:
        """Of its connection, before others may take that."""
        with self._lock:
            self._connection = None

    def stop(self) -> None:
        with self._lock:
            self.is_stopped = True
            sock = getattr(self._connection, "sock", None)
            if sock is not None:
                with suppress(OSError):  # it has ended by itself
                    sock.shutdown(socket.SHUT_RDWR)


@contextmanager
def under_way(call: Call) -> Iterator[None]:
    """Connections that this thread uses meanwhile are the call's."""
    _local.call = call
    try:
        yield
    finally:
        call.let_go()
        _local.call = None


class _Kept(HTTPConnection):
    """One that was idle for long is opened anew: a request on it might get lost, and nobody would know."""

    used_s: float = 0.0

    def connect(self) -> None:
        _use(self)
        super().connect()
        _use(self)  # whoever was stopped meanwhile had no socket that could be shut

    def request(self, *args: Any, **more: Any) -> None:
        _use(self)
        if self.sock is not None and now_s() - self.used_s > IDLE_S:
            self.close()
        super().request(*args, **more)

    def getresponse(self) -> Any:
        response = super().getresponse()
        self.used_s = now_s()
        return response


class _KeptSecurely(_Kept, HTTPSConnection):
    """The same with TLS."""


def _use(connection: HTTPConnection) -> None:
    call: Call | None = getattr(_local, "call", None)
    if call is not None:
        call.uses(connection)


def _let_go() -> None:
    call: Call | None = getattr(_local, "call", None)
    if call is not None:
        call.let_go()


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Kept

    def _put_conn(self, conn: Any) -> None:
        _let_go()  # the answer is not handed over yet, but the next call may have the connection from here on
        super()._put_conn(conn)


class _SecurePool(HTTPSConnectionPool, _Pool):
    ConnectionCls = _KeptSecurely


def pool_of(address: Address, *, is_for_waiting: bool) -> HTTPConnectionPool:
    """Who waits for news holds a connection for long, and must not keep others from theirs."""
    kind = _SecurePool if address.scheme == "https" else _Pool
    size = WAITING_KEPT if is_for_waiting else address.connections
    return kind(address.host, address.port, maxsize=size, block=not is_for_waiting)
