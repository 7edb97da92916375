"""Several claimers on one client. Each claims until nothing is left, and asks for each of its claims twice."""

import asyncio

from msgspec import Struct

import detent
from detent.client import Client
from tests.store.processes.programs.speaking import given, hear, tell

Taken = list[tuple[str, str, int, list[str], list[str]]]  # worker, request, limit, what it got, what the repeat got
LIMITS = (1, 1, 2, 3)


class Given(Struct):
    url: str
    name: str
    claimers: int


async def claim_all(client: Client, worker: str) -> Taken:
    taken: Taken = []
    while True:
        request_id, limit = f"{worker}/{len(taken)}", LIMITS[len(taken) % len(LIMITS)]
        first, again = [
            [job.id for job in await client.claim(worker=worker, limit=limit, request_id=request_id)] for _ in range(2)
        ]
        if not again:
            return taken
        # A claim that got nothing left nothing to be repeated: others may have had their hands on every job just then.
        taken.append((worker, request_id, limit, first or again, again))


async def main() -> None:
    asked = given(Given)
    async with detent.connect(asked.url) as client:
        tell(here=True)
        hear()
        workers = [f"{asked.name}.{number}" for number in range(asked.claimers)]
        taken = await asyncio.gather(*(claim_all(client, worker) for worker in workers))
    tell(taken=[each for one in taken for each in one])


asyncio.run(main())
