"""What a `MemoryStore` keeps beside jobs: paused queues, workers, schedules."""

from collections.abc import Sequence
from threading import Lock

from msgspec.structs import replace

from detent.kernel.clock import micros
from detent.store.clock import Clock
from detent.store.fleet import QUEUES_MAX, WORKER_KEPT_S, WORKERS_MAX, QueueFacts, Schedule, WorkerReport
from detent.store.fleet_rows import within_bounds
from detent.testing.shelf import Shelf


class FleetInMemory:
    """A store has this beside its jobs, on the same shelf."""

    shelf: Shelf
    _lock: Lock
    _clock: Clock

    async def pause_queue(self, tenant: str, queue: str, by: str, reason: str | None) -> None:
        with self._lock:
            self.shelf.pauses.setdefault((tenant, queue), (self._clock(), by, reason))

    async def resume_queue(self, tenant: str, queue: str) -> None:
        with self._lock:
            self.shelf.pauses.pop((tenant, queue), None)

    async def queues(self, tenant: str, name: str | None = None) -> list[QueueFacts]:
        with self._lock:
            limits = {key: depth_max for key, depth_max in self.shelf.depths_max.items() if depth_max is not None}
            known = sorted({queue for owner, queue in (*limits, *self.shelf.pauses) if owner == tenant})
            return [self._queue(tenant, queue) for queue in known if name in (None, queue)][:QUEUES_MAX]

    async def oldest_ready(self, tenant: str, queue: str | None = None) -> dict[str, int]:
        with self._lock:
            now, oldest = self._clock(), dict[str, int]()
            for (owner, _), job in self.shelf.jobs.items():
                name, since = job.spec.queue, job.claim_at
                if owner == tenant and queue in (None, name) and since is not None and since <= now:
                    oldest[name] = min(since, oldest.get(name, since))
            return oldest

    async def report_worker(self, report: WorkerReport) -> None:
        with self._lock:
            now, workers = self._clock(), self.shelf.workers
            workers[report.tenant, report.name] = replace(report, seen_at=now)
            for key in [key for key, each in workers.items() if each.seen_at < now - micros(WORKER_KEPT_S)]:
                del workers[key]

    async def forget_worker(self, tenant: str, name: str) -> None:
        with self._lock:
            self.shelf.workers.pop((tenant, name), None)

    async def workers(self, tenant: str, within_s: float) -> list[WorkerReport]:
        with self._lock:
            since = self._clock() - micros(within_s)
            seen = [each for each in self.shelf.workers.values() if each.tenant == tenant and each.seen_at >= since]
            return sorted(seen, key=lambda each: (-each.seen_at, each.name))[:WORKERS_MAX]

    async def keep_schedules(self, tenant: str, schedules: Sequence[Schedule]) -> list[Schedule]:
        with self._lock:
            kept = dict(self.shelf.schedules)
            for each in schedules:
                kept[tenant, each.name] = _kept(kept.get((tenant, each.name)), each)
            own = within_bounds([each for (owner, _), each in sorted(kept.items()) if owner == tenant], tenant)
            self.shelf.schedules = kept
            return own

    async def pause_schedule(self, tenant: str, name: str, by: str, reason: str | None) -> bool:
        with self._lock:
            schedule = self.shelf.schedules.get((tenant, name))
            if schedule is not None and schedule.paused_at is None:
                paused = replace(schedule, paused_at=self._clock(), paused_by=by, paused_reason=reason)
                self.shelf.schedules[tenant, name] = paused
            return schedule is not None

    async def resume_schedule(self, tenant: str, name: str) -> bool:
        with self._lock:
            schedule = self.shelf.schedules.get((tenant, name))
            if schedule is not None and schedule.paused_at is not None:
                next_at = max(schedule.next_at, self._clock())
                resumed = replace(schedule, next_at=next_at, paused_at=None, paused_by=None, paused_reason=None)
                self.shelf.schedules[tenant, name] = resumed
            return schedule is not None

    async def forget_schedule(self, tenant: str, name: str) -> bool:
        with self._lock:
            return self.shelf.schedules.pop((tenant, name), None) is not None

    def _queue(self, tenant: str, queue: str) -> QueueFacts:
        paused_at, by, reason = self.shelf.pauses.get((tenant, queue), (None, None, None))
        depth_max = self.shelf.depths_max.get((tenant, queue))
        return QueueFacts(name=queue, depth_max=depth_max, paused_at=paused_at, paused_by=by, paused_reason=reason)


def _kept(old: Schedule | None, new: Schedule) -> Schedule:
    if old is None:
        return new
    is_same_time = (old.cron, old.zone) == (new.cron, new.zone)
    return replace(
        new,
        next_at=old.next_at if is_same_time else new.next_at,
        last_at=old.last_at,
        paused_at=old.paused_at,
        paused_by=old.paused_by,
        paused_reason=old.paused_reason,
    )
