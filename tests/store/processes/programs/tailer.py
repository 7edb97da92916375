"""A reader of the log as it grows: says which events it saw, in which order, until it has seen as many as there are.

With `read_max` it stops in the middle, so that another can go on from its last cursor. With `last_job` it stops there.
"""

import asyncio

from msgspec import Struct

import detent
from tests.store.processes.programs.speaking import given, tell


class Given(Struct):
    url: str
    after: str
    read_max: int | None = None
    silence_s: float = 60.0  # after so long without an event it gives up
    last_job: str | None = None


async def main() -> None:
    asked = given(Given)
    async with detent.connect(asked.url) as client:
        tell(here=True)
        seen: list[tuple[str | None, str, str, int]] = []
        events = client.tail(after=asked.after, timeout_s=asked.silence_s)
        async for event in events:
            seen.append((event.cursor, event.id, event.job_id, event.rev))
            if len(seen) == asked.read_max or event.job_id == asked.last_job:
                break
    tell(seen=seen)


asyncio.run(main())
