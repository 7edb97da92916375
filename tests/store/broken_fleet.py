"""Stores that keep jobs rightly, and are wrong about paused queues, workers or schedules, with one mistake each."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from detent.errors import Refused
from detent.store import ClaimRequest, Replies, Request
from detent.store.fleet import QueueFacts, Schedule, WorkerReport
from detent.testing import MemoryStore


class ClaimsFromPausedQueues(MemoryStore):
    async def claim(self, request: ClaimRequest, tx: Any = None) -> Replies:
        paused, self.shelf.pauses = self.shelf.pauses, {}
        replies = await super().claim(request, tx)
        self.shelf.pauses = paused
        return replies


class LooksAtTheFirstQueueOnly(MemoryStore):
    """If that is paused, so are all."""

    async def claim(self, request: ClaimRequest, tx: Any = None) -> Replies:
        is_paused = (request.tenant, request.queues[0]) in self.shelf.pauses
        return [] if is_paused else await super().claim(request, tx)


class PausesKindsOnly(ClaimsFromPausedQueues):
    """Its way of asking for adapters has been forgotten."""

    async def claim(self, request: ClaimRequest, tx: Any = None) -> Replies:
        if request.adapters is not None:
            return await super().claim(request, tx)
        return await MemoryStore.claim(self, request, tx)


class TakesJobsBackFromPausedQueues(MemoryStore):
    async def claim(self, request: ClaimRequest, tx: Any = None) -> Replies:
        is_paused = any((request.tenant, queue) in self.shelf.pauses for queue in request.queues)
        return [] if is_paused else await super().claim(request, tx)


class ShutsPausedQueues(MemoryStore):
    async def apply(self, requests: Sequence[Request], tx: Any = None) -> Replies:
        if self.shelf.pauses and requests[0].lifecycle is not None:
            return [Refused("queue_full", job_id="", verb="enqueue", state=None, allowed=(), lifecycle="")]
        return await super().apply(requests, tx)


class PausesForAllTenants(MemoryStore):
    async def pause_queue(self, tenant: str, queue: str, by: str, reason: str | None) -> None:
        for each in ("default", "other"):
            await super().pause_queue(each, queue, by, reason)


class PausesAnew(MemoryStore):
    async def pause_queue(self, tenant: str, queue: str, by: str, reason: str | None) -> None:
        await self.resume_queue(tenant, queue)
        await super().pause_queue(tenant, queue, by, reason)


class ListsQueuesOnceLimited(MemoryStore):
    async def queues(self, tenant: str, name: str | None = None) -> list[QueueFacts]:
        once = [queue for owner, queue in self.shelf.depths_max if owner == tenant and name in (None, queue)]
        set_ = {each.name: each for each in await super().queues(tenant, name)}
        return [set_.get(queue, QueueFacts(name=queue)) for queue in sorted({*once, *set_})]


class KeepsTheFirstReport(MemoryStore):
    async def report_worker(self, report: WorkerReport) -> None:
        await super().report_worker(self.shelf.workers.get((report.tenant, report.name), report))


class BelievesTheWorkersClock(MemoryStore):
    async def report_worker(self, report: WorkerReport) -> None:
        await super().report_worker(report)
        self.shelf.workers[report.tenant, report.name] = replace(report, seen_at=report.started_at)


class KeepsWorkersForEver(MemoryStore):
    async def report_worker(self, report: WorkerReport) -> None:
        self.shelf.workers[report.tenant, report.name] = replace(report, seen_at=self._clock())


class ForgetsNobody(MemoryStore):
    async def forget_worker(self, tenant: str, name: str) -> None:
        """They will be forgotten some day."""


class SharesWorkersAmongTenants(MemoryStore):
    async def workers(self, tenant: str, within_s: float) -> list[WorkerReport]:
        found: list[WorkerReport] = []
        for owner in {owner for owner, _ in self.shelf.workers}:
            found += await super().workers(owner, within_s)
        return found


class RestartsSchedules(MemoryStore):
    async def keep_schedules(self, tenant: str, schedules: Sequence[Schedule]) -> list[Schedule]:
        for each in schedules:
            self.shelf.schedules.pop((tenant, each.name), None)
        return await super().keep_schedules(tenant, schedules)


class KeepsTheOldTime(MemoryStore):
    async def keep_schedules(self, tenant: str, schedules: Sequence[Schedule]) -> list[Schedule]:
        known = self.shelf.schedules
        old = {each.name: known[tenant, each.name].next_at for each in schedules if (tenant, each.name) in known}
        kept = [replace(each, next_at=old.get(each.name, each.next_at)) for each in schedules]
        return await super().keep_schedules(tenant, kept)


class GivesATickToEverybody(MemoryStore):
    async def advance_schedule(
        self, tenant: str, name: str, *, expected: int, next_at: int, requests: Sequence[Request] = ()
    ) -> Replies | None:
        had = await super().advance_schedule(tenant, name, expected=expected, next_at=next_at, requests=requests)
        return had or []


class EnqueuesBeforeItCompares(MemoryStore):
    async def advance_schedule(
        self, tenant: str, name: str, *, expected: int, next_at: int, requests: Sequence[Request] = ()
    ) -> Replies | None:
        replies = await self.apply(requests)
        had = await super().advance_schedule(tenant, name, expected=expected, next_at=next_at)
        return None if had is None else replies


class TicksWhilePaused(MemoryStore):
    async def pause_schedule(self, tenant: str, name: str, by: str, reason: str | None) -> bool:
        return (tenant, name) in self.shelf.schedules


class StandsStillWhilePaused(MemoryStore):
    """And makes up for all of it when it is resumed."""

    async def advance_schedule(
        self, tenant: str, name: str, *, expected: int, next_at: int, requests: Sequence[Request] = ()
    ) -> Replies | None:
        if self.shelf.schedules[tenant, name].paused_at is not None:
            return None
        return await super().advance_schedule(tenant, name, expected=expected, next_at=next_at, requests=requests)


class ResumesWhatIsBroughtAgain(MemoryStore):
    async def keep_schedules(self, tenant: str, schedules: Sequence[Schedule]) -> list[Schedule]:
        for each in schedules:
            await self.resume_schedule(tenant, each.name)
        return await super().keep_schedules(tenant, schedules)


class RemovesNoSchedule(MemoryStore):
    async def forget_schedule(self, tenant: str, name: str) -> bool:
        return (tenant, name) in self.shelf.schedules


class KeepsAnyNumberOfSchedules(MemoryStore):
    async def keep_schedules(self, tenant: str, schedules: Sequence[Schedule]) -> list[Schedule]:
        self.shelf.schedules |= {(tenant, each.name): each for each in schedules}
        return list(self.shelf.schedules.values())


class ResumesAtAnOldTick(MemoryStore):
    async def resume_schedule(self, tenant: str, name: str) -> bool:
        before = self.shelf.schedules.get((tenant, name))
        is_found = await super().resume_schedule(tenant, name)
        if before is not None:
            self.shelf.schedules[tenant, name] = replace(before, paused_at=None, paused_by=None, paused_reason=None)
        return is_found
