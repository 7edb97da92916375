"""The sockets on which a service listens: bound before anything else begins, so that a busy port is told of at once."""

import socket
from collections.abc import Iterator
from errno import EADDRNOTAVAIL, EAFNOSUPPORT
from ipaddress import ip_address
from typing import Final, NamedTuple

# A name may stand for addresses of a family that this machine does not have.
_NOT_HERE: Final = frozenset({EADDRNOTAVAIL, EAFNOSUPPORT})


class Listener(NamedTuple):
    """`port` is the one that was taken, also where any free one was asked for."""

    host: str
    port: int
    sockets: list[socket.socket]

    def url(self, *, is_tls: bool) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if is_tls else 'http'}://{host}:{self.port}"

    def close(self) -> None:
        for each in self.sockets:
            each.close()


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it. A name counts by all that it stands for."""
    return all(ip_address(address.partition("%")[0]).is_loopback for _, address in _addresses(host, 0))


def listen(host: str, port: int) -> Listener:
    """On every address that the host stands for, all with the same port; 0: one that is free. OSError if not."""
    sockets: list[socket.socket] = []
    missing: OSError | None = None
    for family, address in _addresses(host, port):
        try:
            sockets.append(_listening(address, port, family))
        except OSError as error:
            if error.errno not in _NOT_HERE:
                Listener(host, port, sockets).close()
                raise
            missing = error
            continue
        port = sockets[0].getsockname()[1]
    if not sockets and missing is not None:
        raise missing
    return Listener(host, port, sockets)


def _listening(address: str, port: int, family: socket.AddressFamily) -> socket.socket:
    """Connections have this from it: else the last part of an answer waits until the one before it was acknowledged."""
    made = socket.create_server((address, port), family=family)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def _addresses(host: str, port: int) -> Iterator[tuple[socket.AddressFamily, str]]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return iter(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))
