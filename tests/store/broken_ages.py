"""Stores that keep jobs rightly, and are wrong about how long they have waited, with one mistake each."""

from detent.kernel import Job
from detent.testing import MemoryStore


class TakesTheFirstForTheOldest(MemoryStore):
    """By its place in the order, which a priority changes."""

    async def oldest_ready(self, tenant: str, queue: str | None = None) -> dict[str, int]:
        oldest = dict[str, int]()
        for job in sorted(self.waiting(tenant, queue), key=lambda job: job.order_at or 0):
            if job.claim_at is not None and job.claim_at <= self._clock():
                oldest.setdefault(job.spec.queue, job.claim_at)
        return oldest

    def waiting(self, tenant: str, queue: str | None) -> list[Job]:
        jobs = self.shelf.jobs.values()
        return [job for job in jobs if job.spec.tenant == tenant and queue in (None, job.spec.queue)]


class CountsJobsForLater(MemoryStore):
    async def oldest_ready(self, tenant: str, queue: str | None = None) -> dict[str, int]:
        clock, self._clock = self._clock, lambda: 2**62
        oldest = await super().oldest_ready(tenant, queue)
        self._clock = clock
        return oldest


class CountsFromTheMaking(MemoryStore):
    """A retry that is due has not waited since the job was made."""

    async def oldest_ready(self, tenant: str, queue: str | None = None) -> dict[str, int]:
        waiting = await super().oldest_ready(tenant, queue)
        jobs = [job for job in self.shelf.jobs.values() if job.spec.tenant == tenant and job.claim_at is not None]
        return {name: min(job.created_at for job in jobs if job.spec.queue == name) for name in waiting}


class PassesOverPausedQueues(MemoryStore):
    async def oldest_ready(self, tenant: str, queue: str | None = None) -> dict[str, int]:
        oldest = await super().oldest_ready(tenant, queue)
        return {name: since for name, since in oldest.items() if (tenant, name) not in self.shelf.pauses}


class IsAsOldAsAllTenants(MemoryStore):
    async def oldest_ready(self, tenant: str, queue: str | None = None) -> dict[str, int]:
        own = await super().oldest_ready(tenant, queue)
        others = [await super(IsAsOldAsAllTenants, self).oldest_ready(each, queue) for each in ("default", "other")]
        return {name: min(each.get(name, since) for each in others) for name, since in own.items()}
