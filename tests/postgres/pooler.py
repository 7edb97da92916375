"""A pooler that lends a connection for one transaction at a time, as pgbouncer does in its transaction mode.

Each transaction gets the connection that has rested longest, so what a session keeps (prepared statements, settings,
LISTEN, locks, temporary tables) is not there the next time, and is there for somebody else.
"""

import os
import struct
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from itertools import count
from typing import Final

from tests.postgres import wire
from tests.postgres.lending import COPIED, KEY, Backend, Client, LoginRefused, Pool
from tests.postgres.proxy import ENDED, Proxy
from tests.postgres.wire import Message

ACCEPTED: Final = frozenset(
    {"user", "database", "application_name", "client_encoding", "datestyle", "timezone", "extra_float_digits"}
)
PROTOCOL_VIOLATION: Final = "08P01"
GOODBYE: Final = b"X"
SECRET_BYTES: Final = 4


class Pooler(Proxy):
    """Lends `backends` connections among clients that introduce themselves with the same parameters."""

    def __init__(self, upstream: str, *, backends: int = 3) -> None:
        super().__init__(upstream)
        self._backends = backends
        self._pools: dict[frozenset[tuple[str, str]], Pool] = {}
        self._clients: dict[bytes, Client] = {}
        self._numbers = count(1)

    async def serve(self, opening: Message, reader: StreamReader, writer: StreamWriter) -> None:
        if opening.code == wire.CANCEL:
            await self._cancel(opening)
            return
        parameters = wire.parameters_of(opening)
        unknown = sorted(name for name in parameters if name.lower() not in ACCEPTED)
        if unknown:
            writer.write(wire.fatal(PROTOCOL_VIOLATION, f"unsupported startup parameter: {unknown[0]}").encoded())
            return
        pool = self._pools.setdefault(frozenset(parameters.items()), Pool(parameters, self._backends))
        try:
            await self._converse(pool, reader, writer)
        except LoginRefused as refused:
            writer.write(refused.answer.encoded())

    async def _cancel(self, opening: Message) -> None:
        client = self._clients.get(opening.payload[4:])
        if client is None or client.backend is None:
            return
        reader, writer = await self.dial()
        writer.write(wire.cancel(client.backend.key).encoded())
        await reader.read()  # the server has seen it when it hangs up
        self.close(writer)

    async def _converse(self, pool: Pool, reader: StreamReader, writer: StreamWriter) -> None:
        client = Client(writer, struct.pack("!i", next(self._numbers)) + os.urandom(SECRET_BYTES))
        self._clients[client.key] = client
        try:
            await self._welcome(client, pool)
            while (message := await wire.read_message(reader)).type != GOODBYE:
                await self._forward(client, message, pool)
        finally:
            del self._clients[client.key]
            if client.backend is not None:  # left within a transaction, which ends with its connection
                self._lose(client.backend, pool)

    async def _welcome(self, client: Client, pool: Pool) -> None:
        backend = await self._backend(pool)
        pool.take_back(backend)
        for message in (*backend.greeting, Message(KEY, client.key), Message(wire.READY, wire.NOT_IN_TRANSACTION)):
            client.writer.write(message.encoded())

    async def _forward(self, client: Client, message: Message, pool: Pool) -> None:
        if client.backend is None:
            if message.type in COPIED:  # to a copy that has failed; a server overlooks the rest of it
                return
            pool.lend(await self._backend(pool), client)
        assert client.backend is not None
        client.asks(message)
        client.backend.writer.write(message.encoded())
        await client.backend.writer.drain()

    async def _backend(self, pool: Pool) -> Backend:
        backend = await pool.place()
        if backend is not None:
            return backend
        try:
            return await self._new_backend(pool)
        except BaseException:
            pool.give_up()
            raise

    async def _new_backend(self, pool: Pool) -> Backend:
        backend = Backend(*await self.dial())
        try:
            await backend.log_in(pool.parameters)
        except BaseException:
            self.close(backend.writer)
            raise
        self.in_background(self._answer(backend, pool))
        return backend

    async def _answer(self, backend: Backend, pool: Pool) -> None:
        with suppress(*ENDED):
            while True:
                message = await wire.read_message(backend.reader)
                client = backend.client
                if client is None:  # a notification, say, that comes when nobody has the connection, is lost
                    continue
                if client.is_done_with(message):
                    pool.take_back(backend)
                client.writer.write(message.encoded())
                await client.writer.drain()
        self._lose(backend, pool)

    def _lose(self, backend: Backend, pool: Pool) -> None:
        if not backend.is_alive:
            return
        backend.is_alive = False
        self.close(backend.writer)
        if backend.client is not None:  # otherwise its place is free already
            self.close(backend.client.writer)
            backend.client.backend = None
            pool.give_up()
