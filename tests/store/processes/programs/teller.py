"""A writer of events in every size of commit: single verbs, batches, callers at once, transactions of its own."""

import asyncio

from msgspec import Struct

import detent
from detent.client import Client
from tests.store.processes.programs.speaking import given, hear, tell

ROUND = 25  # events that one round writes


class Given(Struct):
    url: str
    events: int


async def write_round(client: Client) -> None:
    for _ in range(5):
        await client.enqueue("single")
    await client.enqueue_many({"kind": "batch"} for _ in range(8))
    await asyncio.gather(*(client.enqueue("crowd") for _ in range(8)))
    async with client.transaction() as tx:
        for _ in range(4):
            await client.enqueue("own", tx=tx)
            await asyncio.sleep(0.001)  # a commit that takes its time, while others wait to write


async def main() -> None:
    asked = given(Given)
    async with detent.connect(asked.url) as client:
        tell(here=True)
        hear()
        for _ in range(asked.events // ROUND):
            await write_round(client)
    tell(wrote=asked.events // ROUND * ROUND)


asyncio.run(main())
