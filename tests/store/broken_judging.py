"""Stores that are wrong about jobs that wait for a verdict, or about the pace of a rule, with one mistake each."""

from collections.abc import Sequence

from detent.kernel import Job
from detent.store import JobQuery, Page, Replies, Request
from detent.testing import MemoryStore


class TakesHeldJobsForUnjudged(MemoryStore):
    async def unjudged(
        self, tenant: str, queues: Sequence[str], kinds: Sequence[str], limit: int, cursor: str | None = None
    ) -> Page[Job]:
        found = await self.find(JobQuery(tenant=tenant, lifecycle="dispatch"), 1_000)
        return Page([job for job in reversed(found.items) if job.claim_at is None and not job.is_ended])


class AsksForOthersJobs(MemoryStore):
    async def unjudged(
        self, tenant: str, queues: Sequence[str], kinds: Sequence[str], limit: int, cursor: str | None = None
    ) -> Page[Job]:
        every = {job.spec.kind for job in self.shelf.jobs.values()}
        return await super().unjudged(tenant, queues, sorted(every), limit, cursor)


class BeginsAnewWithEachPage(MemoryStore):
    async def unjudged(
        self, tenant: str, queues: Sequence[str], kinds: Sequence[str], limit: int, cursor: str | None = None
    ) -> Page[Job]:
        return await super().unjudged(tenant, queues, kinds, limit)


class PacesEachBatchByItself(MemoryStore):
    async def pace(self, tenant: str, rule: str, every: int, requests: Sequence[Request]) -> Replies:
        self.shelf.paces.clear()
        return await super().pace(tenant, rule, every, requests)


class PacesAllRulesTogether(MemoryStore):
    async def pace(self, tenant: str, rule: str, every: int, requests: Sequence[Request]) -> Replies:
        return await super().pace(tenant, "all", every, requests)


class DrivesJobsFurtherAndFurtherOff(MemoryStore):
    """It counts moments, and not time."""

    async def pace(self, tenant: str, rule: str, every: int, requests: Sequence[Request]) -> Replies:
        replies = await super().pace(tenant, rule, every, requests)
        self.shelf.paces[tenant, rule] += 1_000 * every
        return replies
