"""TLS handshakes, within the bounds of all connections.

Asyncio hands a connection over when its handshake is done; before that nobody counts it, and it has a minute. So here
connections are taken as they come, counted, and only then upgraded.
"""

import asyncio
from ssl import SSLContext
from typing import Any

from detent.surfaces.http.receiving import Receiving, protocol_of
from detent.surfaces.http.settings import Settings


class Handshakes:
    def __init__(self, context: SSLContext, settings: Settings) -> None:
        self.context = context
        self.settings = settings
        self.under_way: set[Handshake] = set()
        self._protocol = protocol_of(settings)

    def protocol(self, **given: Any) -> "Handshake":
        """For uvicorn, in the place of its protocol's class."""
        return Handshake(self, self._protocol(**given))

    def cut_off(self) -> None:
        for each in tuple(self.under_way):
            each.abort()


class Handshake(asyncio.Protocol):
    """One connection, until it is as secure as it should be; from then on it is the other protocol's."""

    def __init__(self, all_: Handshakes, then: Receiving) -> None:
        self._all = all_
        self._then = then
        self._early = bytearray()
        self._is_lost = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """One too many is hung up on: nothing can be said before the handshake."""
        self._transport = transport
        if len(self._then.connections) + len(self._all.under_way) >= self._all.settings.connections_max:
            transport.abort()
            return
        transport.pause_reading()  # or what comes in plain text could be taken for what comes after the handshake
        self._all.under_way.add(self)
        self._task = asyncio.ensure_future(self._shake(transport))

    def data_received(self, data: bytes) -> None:
        """What comes together with the last of the handshake."""
        self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True

    def abort(self) -> None:
        self._transport.abort()

    async def _shake(self, transport: asyncio.Transport) -> None:
        all_, loop = self._all, asyncio.get_running_loop()
        try:
            secured = await loop.start_tls(
                transport, self, all_.context, server_side=True, ssl_handshake_timeout=all_.settings.receipt_s
            )
        except OSError:
            transport.abort()  # it speaks no TLS, or another one, or none in time, or has gone
            return
        finally:
            all_.under_way.discard(self)
        if secured is not None and not self._is_lost:
            self._hand_over(secured)

    def _hand_over(self, secured: asyncio.Transport) -> None:
        secured.set_protocol(self._then)
        self._then.connection_made(secured)
        if self._early:
            self._then.data_received(bytes(self._early))
