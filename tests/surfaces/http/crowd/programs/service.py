"""The service in a process of its own, until its standard input ends. Says where it is, and the tokens to use."""

import asyncio
import socket
import sys
from typing import Final

from msgspec import Struct

import detent
from detent.surfaces.http.listening import listen
from detent.surfaces.http.live import LiveSettings
from detent.surfaces.http.service import Service
from detent.surfaces.http.serving import Serving
from detent.surfaces.http.settings import Settings
from tests.store.processes.programs.speaking import given, tell

SOCKET_BYTES: Final = 8_192  # or the operating system keeps so much that no reader is ever too slow


class Given(Struct):
    url: str
    live: LiveSettings
    worker: str  # whose token the claimers have


async def main() -> None:
    asked = given(Given)
    async with detent.connect(asked.url) as client:
        reader = await client.create_token("reader", scopes=["read"])
        maker = await client.create_token("maker", scopes=["submit", "read"])
        worker = await client.create_token("worker", scopes=["work"], worker=asked.worker)
    listener = listen("127.0.0.1", 0)
    for each in listener.sockets:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BYTES)
    serving = Serving(Service(detent.connect(asked.url), Settings(live=asked.live)), listener)

    async def ready() -> None:
        tell(address=listener.url(is_tls=False), reader=reader.text, maker=maker.text, worker=worker.text)
        asyncio.get_running_loop().run_in_executor(None, sys.stdin.read).add_done_callback(lambda _: serving.stop())

    await serving.run(ready)


asyncio.run(main())
