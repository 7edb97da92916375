"""A process with a transaction of its own, which it keeps open until it is told to commit. A test pauses it inside."""

import asyncio

from msgspec import Struct

import detent
from tests.store.processes.programs.speaking import given, hear, tell
from tests.store.processes.transactions import transaction


class Given(Struct):
    url: str


async def main() -> None:
    asked = given(Given)
    async with detent.connect(asked.url) as client:
        async with transaction(client, asked.url) as tx:
            job = await client.enqueue("held", job_id="held", tx=tx)
            tell(inside=True)
            hear()
        tell(committed=job.id)


asyncio.run(main())
