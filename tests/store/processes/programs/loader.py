"""One of several loads on one store: enqueues its share, then plays all the parts until nothing is live."""

import asyncio

from msgspec import Struct

import detent
from detent.lifecycles import BUILT_IN
from detent.testing.load import Load
from tests.store.processes.programs.speaking import given, hear, tell


class Given(Struct):
    url: str
    name: str
    seed: int
    share: int  # jobs of each lifecycle
    wait_s: float
    workers: int = 4


async def main() -> None:
    asked = given(Given)
    async with detent.connect(asked.url) as client:
        load = Load(client, name=asked.name, seed=asked.seed)
        for lifecycle in BUILT_IN:
            await load.enqueue(asked.share, lifecycle=lifecycle)
        tell(here=True)
        hear()
        tally = await load.run(workers=asked.workers, wait_s=asked.wait_s)
    tell(mutations=tally.mutations, done=tally.done, refused=tally.refused)


asyncio.run(main())
