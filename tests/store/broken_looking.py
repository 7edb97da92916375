"""Stores that claim rightly, and are wrong about what a claim would take, with one mistake each."""

from msgspec.structs import replace

from detent.kernel import Job
from detent.store import ClaimRequest
from detent.testing import MemoryStore
from detent.testing.asking import claimable


class TakesWhatItLooksAt(MemoryStore):
    async def claimable(self, request: ClaimRequest) -> list[Job]:
        found = await super().claimable(request)
        await self.claim(request)
        return found


class LooksInTheOrderOfMaking(MemoryStore):
    async def claimable(self, request: ClaimRequest) -> list[Job]:
        return sorted(await super().claimable(request), key=lambda job: job.created_at)


class LooksAtKeysThatAreUsedUp(MemoryStore):
    async def claimable(self, request: ClaimRequest) -> list[Job]:
        return claimable(self.shelf, request)[: request.limit]


class LooksAtEveryAdapter(MemoryStore):
    async def claimable(self, request: ClaimRequest) -> list[Job]:
        return await super().claimable(replace(request, adapters=None, spared=frozenset()))


class LooksAtEverything(MemoryStore):
    async def claimable(self, request: ClaimRequest) -> list[Job]:
        return await super().claimable(replace(request, limit=1_000))
