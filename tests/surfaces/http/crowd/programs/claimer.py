"""Several claimers, each waiting at the service for work, until whoever started them says that it is enough.

What one has claimed it starts, and then completes, each in one request for all of it.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import aiohttp
from msgspec import Struct

from tests.store.processes.programs.speaking import given, hear, tell

LIMIT: Final = 10
WAIT_S: Final = 30.0
LEASE_S: Final = 300.0  # nobody is to lose a job because the machine is busy


class Given(Struct):
    address: str
    token: str
    claimers: list[tuple[str, list[str]]]  # the name of each, and its queues


class Claimer:
    def __init__(self, session: aiohttp.ClientSession, name: str, queues: list[str]) -> None:
        self._session = session
        self._name = name
        self._queues = queues
        self.taken: list[str] = []
        self.claims = 0

    async def work(self) -> None:
        while True:
            jobs = await self._claim()
            fences = [{"job_id": job["id"], "worker": self._name, "attempt": job["attempt"]} for job in jobs]
            for verb in ("start", "complete"):
                await self._ask_together(verb, fences)
            self.taken += [job["id"] for job in jobs]

    async def _claim(self) -> list[dict[str, Any]]:
        self.claims += 1
        asked = {"worker": self._name, "queues": self._queues, "limit": LIMIT, "wait_s": WAIT_S, "lease_s": LEASE_S}
        asked |= {"allow_unusual_lease": True, "request_id": f"{self._name}/{self.claims}"}
        jobs: list[dict[str, Any]] = (await self._post("/v1/claims", asked))["jobs"]
        return jobs

    async def _ask_together(self, verb: str, fences: Sequence[dict[str, Any]]) -> None:
        if fences:
            answered = await self._post("/v1/batch", {"requests": [{"verb": verb} | fence for fence in fences]})
            problems = [answer["problem"] for answer in answered["answers"] if "problem" in answer]
            assert not problems, f"{verb}: {problems}"

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        async with self._session.post(path, json=body) as response:
            answered: dict[str, Any] = await response.json(content_type=None)
            assert response.status == 200, f"{path}: {response.status} {answered}"
            return answered


async def main() -> None:
    asked = given(Given)
    headers = {"Authorization": f"Bearer {asked.token}"}
    anybody = aiohttp.TCPConnector(limit=0)  # each waits on a connection of its own
    async with aiohttp.ClientSession(asked.address, headers=headers, connector=anybody) as session:
        claimers = [Claimer(session, name, queues) for name, queues in asked.claimers]
        tell(here=True)
        working = [asyncio.create_task(claimer.work()) for claimer in claimers]
        enough = asyncio.create_task(asyncio.to_thread(hear))
        await asyncio.wait([*working, enough], return_when=asyncio.FIRST_COMPLETED)
        for task in working:
            task.cancel()
        ends = await asyncio.gather(*working, return_exceptions=True)
    failed = [repr(end) for end in ends if not isinstance(end, asyncio.CancelledError)]
    tell(taken=[claimer.taken for claimer in claimers], claims=sum(each.claims for each in claimers), failed=failed)


asyncio.run(main())
