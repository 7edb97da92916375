"""Readers of live events, each of one queue, until the last job of the queue is made. Says what each of them saw."""

import asyncio
import socket
from random import Random
from typing import Final

import aiohttp
from msgspec import Struct

from tests.store.processes.programs.speaking import given, tell
from tests.surfaces.http.crowd.following import Reader
from tests.surfaces.http.crowd.manners import MANNERS, Pace

SOCKET_BYTES: Final = 8_192


class Given(Struct):
    address: str
    token: str
    readers: list[tuple[str, str]]  # manner and queue of each; of each queue, one is steady
    pace: Pace
    seed: int


def small(found: aiohttp.AddrInfoType) -> socket.socket:
    """A socket that takes little of what is not read."""
    family, kind, protocol, _, _ = found
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BYTES)
    return made


async def main() -> None:
    asked = given(Given)
    headers = {"Authorization": f"Bearer {asked.token}", "Accept": "text/event-stream"}
    timeout = aiohttp.ClientTimeout(total=None, sock_read=asked.pace.silence_s)
    connector = aiohttp.TCPConnector(limit=0, socket_factory=small)
    async with aiohttp.ClientSession(
        asked.address, headers=headers, connector=connector, timeout=timeout, read_bufsize=asked.pace.read_bytes
    ) as session:
        readers = [Reader(session, queue, manner) for manner, queue in asked.readers]
        companions = {reader.queue: reader for reader in readers if reader.manner == "steady"}
        following = [
            asyncio.create_task(
                MANNERS[reader.manner](reader, companions[reader.queue], asked.pace, Random(f"{asked.seed} {number}"))
            )
            for number, reader in enumerate(readers)
        ]
        for reader in readers:
            if reader.manner != "late":
                await reader.has_begun.wait()
        tell(here=True)
        for reader in await asyncio.gather(*following):
            tell(
                queue=reader.queue, manner=reader.manner, seen=reader.seen, begun=reader.begun,
                cuts=reader.cuts, breaks=reader.breaks,
            )  # fmt: skip


asyncio.run(main())
