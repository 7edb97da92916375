"""Several workers on one client, on jobs that share limits: each claims and ends jobs until all have ended."""

import asyncio

from msgspec import Struct

import detent
from detent.client import Client
from tests.store.processes.programs.speaking import given, hear, tell

PAUSE_S = 0.002  # when there was nothing for it just then


class Given(Struct):
    url: str
    name: str
    workers: int


async def work(client: Client, worker: str) -> int:
    done = 0
    while True:
        starts = done % 2 == 0
        jobs = await client.claim(worker=worker, limit=1 + done % 5, start=starts)
        if not jobs and await is_over(client):
            return done
        if not jobs:
            await asyncio.sleep(PAUSE_S)
        items = [{"job_id": job.id, "worker": worker, "attempt": job.attempt} for job in jobs]
        if jobs and not starts:
            await client.start_many(items)
        if jobs:
            await client.complete_many(items)
        done += len(jobs)


async def is_over(client: Client) -> bool:
    counts = await client.count(by=["phase"])
    return not any(count for (phase,), count in counts.items() if phase != "ended")


async def main() -> None:
    asked = given(Given)
    async with detent.connect(asked.url) as client:
        tell(here=True)
        hear()
        done = await asyncio.gather(*(work(client, f"{asked.name}.{n}") for n in range(asked.workers)))
    tell(done=sum(done))


asyncio.run(main())
