"""What both proxies share: they listen on a thread of their own, and end with every connection they hold.

What becomes of a connection is for pooler.py and cutting.py to say. A thread needs its turn: a test that waits in
`pgconn.get_result()`, which lets no other thread run, waits for ever.
"""

import asyncio
import socket
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Coroutine
from contextlib import suppress
from typing import Final, Self
from urllib.parse import urlsplit

from tests.postgres import wire
from tests.postgres.ports import free_port
from tests.postgres.wire import Message

# What the end of a connection looks like to whoever reads from it or writes to it. It is nothing unusual here.
ENDED: Final = (ConnectionError, asyncio.IncompleteReadError)


class Proxy:
    """Stands before the server of `upstream`, the URL of a database; in its block, `url` leads to it through here."""

    def __init__(self, upstream: str) -> None:
        self._upstream = urlsplit(upstream)
        self.url = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[StreamWriter] = set()
        self._failures: list[Exception] = []

    async def serve(self, opening: Message, reader: StreamReader, writer: StreamWriter) -> None:
        """One client, from its first message to its last."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        port = free_port()
        self.url = self._upstream._replace(netloc=f"{self._upstream.username}@127.0.0.1:{port}").geturl()
        listening = socket.create_server(("127.0.0.1", port))
        self._loop, self._end = asyncio.new_event_loop(), asyncio.Event()
        self._thread = threading.Thread(target=self._run, args=(listening,), name=type(self).__name__)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()
        if self._failures:
            raise ExceptionGroup("the proxy failed", self._failures)

    def cut_all(self) -> None:
        """End every connection there is, on both sides. New ones are welcome."""
        self._loop.call_soon_threadsafe(self._abort)

    async def dial(self) -> tuple[StreamReader, StreamWriter]:
        """A new connection to the server."""
        reader, writer = await asyncio.open_connection(self._upstream.hostname, self._upstream.port)
        self._writers.add(writer)
        return reader, writer

    def in_background(self, work: Coroutine[None, None, None]) -> None:
        """Until it ends, or the proxy does. What it raises, the proxy's block raises."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    async def ended(self) -> None:
        """Waits until the proxy ends."""
        await self._end.wait()

    def close(self, writer: StreamWriter) -> None:
        """Say what is still to be said, and end the connection."""
        self._writers.discard(writer)
        writer.close()

    def _run(self, listening: socket.socket) -> None:
        try:
            self._loop.run_until_complete(self._live(listening))
        finally:
            self._loop.close()

    async def _live(self, listening: socket.socket) -> None:
        server = await asyncio.start_server(self._accept, sock=listening)
        await self._end.wait()
        server.close()
        self._abort()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)  # each has told _finished of its failure
        self._abort()

    def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        # asyncio does so by itself only for sockets that were made with their protocol named: 40 ms for each answer.
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._writers.add(writer)
        self.in_background(self._greet(reader, writer))

    async def _greet(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            with suppress(*ENDED):
                await self.serve(await _opening(reader, writer), reader, writer)
        finally:
            self.close(writer)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception):
            self._failures.append(error)

    def _abort(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()


async def _opening(reader: StreamReader, writer: StreamWriter) -> Message:
    while (opening := await wire.read_opening(reader)).code in (wire.SSL, wire.GSS):
        writer.write(wire.NOT_OFFERED)
    return opening
