"""A writer of events in every size of commit: single verbs, batches, callers at once, transactions of its own.

It makes its share of jobs, and works off as many, whosever they are.
"""

import asyncio

from msgspec import Struct

import detent
from detent.client import Client, Job
from tests.store.processes.programs.speaking import given, hear, tell
from tests.store.processes.transactions import transaction

ROUND = 25  # jobs that one round makes: 5 + 8 + 8 + 4
IDLE_S = 0.01
IDLE_MAX = 2_000


class Given(Struct):
    url: str
    name: str
    jobs: int
    hold_s: float  # how long a transaction of its own stays open


class Teller:
    def __init__(self, client: Client, asked: Given) -> None:
        self._client = client
        self._asked = asked
        self.held = 0

    async def make(self) -> None:
        for _ in range(5):
            await self._client.enqueue("single")
        await self._client.enqueue_many({"kind": "batch"} for _ in range(8))
        await asyncio.gather(*(self._client.enqueue("crowd") for _ in range(8)), self._make_slowly())

    async def work_off(self, jobs: int) -> None:
        """Half of them one by one, each with a transaction of its own, and half together."""
        for _ in range(IDLE_MAX):
            claimed = await self._client.claim(worker=self._asked.name, limit=jobs, start=True)
            alone, together = claimed[:3], claimed[3:]
            done = [{"job_id": job.id, "worker": self._asked.name, "attempt": job.attempt} for job in together]
            await asyncio.gather(self._client.complete_many(done), *(self._finish_slowly(job) for job in alone))
            jobs -= len(claimed)
            if not jobs:
                return
            await asyncio.sleep(0 if claimed else IDLE_S)
        raise TimeoutError(f"{jobs} jobs never came")

    async def _make_slowly(self) -> None:
        """A commit that takes its time, while others write."""
        async with transaction(self._client, self._asked.url) as tx:
            for _ in range(4):
                await self._client.enqueue("own", tx=tx)
                await asyncio.sleep(self._asked.hold_s / 4)
        self.held += 1

    async def _finish_slowly(self, job: Job) -> None:
        async with transaction(self._client, self._asked.url) as tx:
            await self._client.complete(job.id, worker=self._asked.name, attempt=job.attempt, tx=tx)
            await asyncio.sleep(self._asked.hold_s)
        self.held += 1


async def main() -> None:
    asked = given(Given)
    async with detent.connect(asked.url) as client:
        teller = Teller(client, asked)
        tell(here=True)
        hear()
        for _ in range(asked.jobs // ROUND):
            await teller.make()
            await teller.work_off(ROUND)
    tell(held=teller.held)


asyncio.run(main())
