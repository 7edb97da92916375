"""A reader of the log as it grows: says which events it saw, in which order, until it has seen as many as there are.

With `read_max` it stops in the middle, so that another can go on from its last cursor.
"""

import asyncio

from msgspec import Struct

import detent
from tests.store.processes.programs.speaking import given, tell


class Given(Struct):
    url: str
    after: str
    read_max: int
    silence_s: float  # after so long without an event it gives up


async def main() -> None:
    asked = given(Given)
    async with detent.connect(asked.url) as client:
        tell(here=True)
        seen: list[tuple[str | None, str]] = []
        events = client.tail(after=asked.after, timeout_s=asked.silence_s)
        async for event in events:
            seen.append((event.cursor, event.id))
            if len(seen) == asked.read_max:
                break
    tell(seen=seen)


asyncio.run(main())
