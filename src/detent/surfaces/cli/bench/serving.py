"""A service to be measured, in a process of its own: `python -m detent.surfaces.cli.bench.serving`.

It hears the address of its store on its standard input, says where it is and the token to use, and ends with its input.
"""

import asyncio
import sys
from typing import Final

import msgspec

from detent.client import connect
from detent.surfaces.http.listening import listen
from detent.surfaces.http.service import Service
from detent.surfaces.http.serving import Serving
from detent.surfaces.http.settings import Settings

RATE_MAX: Final = 1_000_000  # requests a second: what is measured is how many there can be


async def main() -> None:
    url = sys.stdin.readline().strip()
    async with connect(url) as client:
        token = await client.create_token("bench", scopes=["admin"])
    settings = Settings(rate_max=RATE_MAX, burst_max=RATE_MAX)
    listener = listen("127.0.0.1", 0)
    serving = Serving(Service(connect(url), settings), listener)

    async def ready() -> None:
        told = {"address": listener.url(is_tls=False), "token": token.text}
        sys.stdout.buffer.write(msgspec.json.encode(told) + b"\n")
        sys.stdout.buffer.flush()
        asyncio.get_running_loop().run_in_executor(None, sys.stdin.read).add_done_callback(lambda _: serving.stop())

    await serving.run(ready)


if __name__ == "__main__":
    asyncio.run(main())
