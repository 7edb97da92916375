"""A proxy that looks at each message and lets it pass, drops it, cuts the connection or leaves it hanging.

So a test can lose a connection at a moment of its choice: the server never saw the commit, or did and its answer was
lost. moments.py has such choices ready.
"""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Literal, NamedTuple, assert_never

from tests.postgres import wire
from tests.postgres.proxy import Proxy
from tests.postgres.wire import Message

Direction = Literal["to server", "to client"]
Verdict = Literal["pass", "drop", "cut", "hang", "orphan"]


class Passing(NamedTuple):
    """A message on its way. Connections count from 1; `type` is empty for the message that opens one."""

    connection: int
    direction: Direction
    type: bytes
    payload: bytes


Decide = Callable[[Passing], Verdict]


def pass_all(_: Passing) -> Verdict:
    return "pass"


class Cutter(Proxy):
    """Asks `decide`, on a thread of the proxy's, about each message. A test may set another at any time.

    "cut" ends the connection on both sides. "hang" keeps it open on both, and nothing gets through any more, not even
    that one side has left. "orphan" ends it for the client alone: the server goes on waiting for it.
    """

    def __init__(self, upstream: str, decide: Decide = pass_all) -> None:
        super().__init__(upstream)
        self.decide = decide
        self._numbers = count(1)

    async def serve(self, opening: Message, reader: StreamReader, writer: StreamWriter) -> None:
        server_reader, server_writer = await self.dial()
        link = _Link(next(self._numbers), {"to server": server_writer, "to client": writer})
        try:
            await self._relay(link, "to server", opening)
            await _until_one_ends(self._pump(link, "to server", reader), self._pump(link, "to client", server_reader))
        except _Hanging:
            await self.ended()
        finally:
            self.close(server_writer)

    async def _pump(self, link: "_Link", direction: Direction, reader: StreamReader) -> None:
        while True:
            await self._relay(link, direction, await wire.read_message(reader))

    async def _relay(self, link: "_Link", direction: Direction, message: Message) -> None:
        verdict = self.decide(Passing(link.connection, direction, *message))
        match verdict:
            case "pass":
                link.writers[direction].write(message.encoded())
                await link.writers[direction].drain()
            case "drop":
                return
            case "cut":
                for writer in link.writers.values():
                    writer.transport.abort()
                raise ConnectionAbortedError
            case "hang":
                raise _Hanging
            case "orphan":
                link.writers["to client"].transport.abort()
                raise _Hanging
            case _:
                assert_never(verdict)


class _Link(NamedTuple):
    connection: int
    writers: dict[Direction, StreamWriter]


class _Hanging(Exception):
    """Nothing more is to get through."""


async def _until_one_ends(*pumps: Coroutine[None, None, None]) -> None:
    tasks = [asyncio.ensure_future(pump) for pump in pumps]
    try:
        ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in ended:
        task.result()
