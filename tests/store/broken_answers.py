"""Stores that keep jobs rightly, and count, look back or purge with one mistake each."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from detent.kernel import Job
from detent.store import Entry, EventQuery, JobQuery, Page, Pruned, Retention
from detent.store.query import Counts
from detent.testing import MemoryStore, asking


class CountsEverything(MemoryStore):
    """The filters are for listings, it thinks."""

    async def count(self, query: JobQuery, by: Sequence[str]) -> Counts:
        return await super().count(JobQuery(tenant=query.tenant), by)


class CountsAllTenants(MemoryStore):
    async def count(self, query: JobQuery, by: Sequence[str]) -> Counts:
        tenants = dict.fromkeys(tenant for tenant, _ in self.shelf.jobs)
        counts: Counter[tuple[str | None, ...]] = Counter()
        for tenant in tenants:
            counts.update(await super().count(replace(query, tenant=tenant), by))
        return dict(counts)


class CountsNothingAsNothing(MemoryStore):
    """As a `group by` does, where there is nothing to group."""

    async def count(self, query: JobQuery, by: Sequence[str]) -> Counts:
        return {key: number for key, number in (await super().count(query, by)).items() if number}


class CountsInAnOrderOfItsOwn(MemoryStore):
    async def count(self, query: JobQuery, by: Sequence[str]) -> Counts:
        return await super().count(query, sorted(by))


class CountsVersionsApart(MemoryStore):
    async def count(self, query: JobQuery, by: Sequence[str]) -> Counts:
        apart = ["lifecycle_version" if name == "lifecycle" else name for name in by]
        return await super().count(query, apart)


class TakesTheOldestForTheNewest(MemoryStore):
    async def recent(self, query: EventQuery, limit: int) -> Page[Entry]:
        return Page((await self.events(query, limit)).items)


class TellsBackwards(MemoryStore):
    async def recent(self, query: EventQuery, limit: int) -> Page[Entry]:
        page = await super().recent(query, limit)
        return Page(page.items[::-1], page.cursor)


class LooksForTheNewestFirst(MemoryStore):
    """It takes the newest, and looks among these for those that match."""

    async def recent(self, query: EventQuery, limit: int) -> Page[Entry]:
        page = await super().recent(EventQuery(tenant=query.tenant), limit)
        return Page([each for each in page.items if asking.is_event_meant(self.shelf, each.event, query)], page.cursor)


class IgnoresTheVerb(MemoryStore):
    async def events(self, query: EventQuery, limit: int, cursor: str | None = None) -> Page[Entry]:
        return await super().events(replace(query, verb=None), limit, cursor)


class DoesNotSayHowFarItLooked(MemoryStore):
    async def recent(self, query: EventQuery, limit: int) -> Page[Entry]:
        return Page((await super().recent(query, limit)).items)


class NeverReachesTheBeginning(MemoryStore):
    async def recent(self, query: EventQuery, limit: int) -> Page[Entry]:
        page = await super().recent(query, limit)
        return Page(page.items, page.cursor or "0")


class PurgesLiveJobs(MemoryStore):
    async def purge(self, tenant: str, job_ids: Sequence[str]) -> Pruned:
        named = {job_id for job_id in job_ids if (tenant, job_id) in self.shelf.jobs}
        return Pruned(len(named), sum(self.shelf.remove((tenant, job_id)) for job_id in named))


class PurgesAllTenants(MemoryStore):
    async def purge(self, tenant: str, job_ids: Sequence[str]) -> Pruned:
        removed = Pruned()
        for each in {key[0] for key in self.shelf.jobs}:
            removed = removed.plus(await super().purge(each, job_ids))
        return removed


class PurgesOldJobsOnly(MemoryStore):
    async def purge(self, tenant: str, job_ids: Sequence[str]) -> Pruned:
        return await super().prune(tenant, Retention(), len(job_ids))


class HidesWhatItPurges(MemoryStore):
    """The job is not found any more, and its log still is."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._hidden: set[str] = set()

    async def get(self, tenant: str, job_ids: Sequence[str]) -> list[Job | None]:
        return await super().get(tenant, [job_id for job_id in job_ids if job_id not in self._hidden] or ["nobody"])

    async def purge(self, tenant: str, job_ids: Sequence[str]) -> Pruned:
        ended = [job for job in await super().get(tenant, job_ids) if job is not None and job.is_ended]
        self._hidden |= {job.id for job in ended}
        return Pruned(len(ended), sum(job.rev for job in ended))


class KeepsRequestsOfPurgedJobs(MemoryStore):
    async def purge(self, tenant: str, job_ids: Sequence[str]) -> Pruned:
        receipts = dict(self.shelf.receipts)
        removed = await super().purge(tenant, job_ids)
        self.shelf.receipts = receipts
        return removed


class HasNoNews(MemoryStore):
    async def news(self, seen: str | None, timeout_s: float) -> str:
        return "nothing new"


class HasNewsForWhoWaitsOnly(MemoryStore):
    """What came between two calls is taken for known."""

    async def news(self, seen: str | None, timeout_s: float) -> str:
        before = str(self.shelf.end)
        return seen if seen is not None and await self.wait(before, timeout_s) == before else str(self.shelf.end)
