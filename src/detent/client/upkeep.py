"""What keeps a store in order: the reconciler's work, retention, limits, and the audit."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

from detent.audit import Report
from detent.client.arguments import bounded_ids, check_text_name
from detent.client.moments import to_micros, to_micros_or_none
from detent.client.reads import Reads
from detent.client.replaying import Replay, State, replay, state_at
from detent.client.verifying import verify
from detent.kernel.parse import COUNT_MAX
from detent.lifecycle.bounds import check_at_least, check_kind, check_whole
from detent.store import Pruned, Retention
from detent.store.query import DAY_S

PRUNE_BATCH: Final = 500
RECONCILE_MAX: Final = 10_000


class Upkeep(Reads):
    async def reconcile(self, limit: int = 1000) -> int:
        """Do what time demands: expired leases, time limits, retries and waits that are over. Returns how many jobs.

        Time spares no tenant, so this looks at all of them.
        """
        check_whole("limit", limit, least=1, most=RECONCILE_MAX)
        return len(await self.store.reconcile(limit))

    async def prune(
        self, *, successes_s: float = 7 * DAY_S, others_s: float = 30 * DAY_S, jobs_max: int | None = None
    ) -> Pruned:
        """Remove jobs that ended so long ago, with their logs, in small transactions that let others in between."""
        check_at_least("successes_s", successes_s, 0)
        check_at_least("others_s", others_s, 0)
        if jobs_max is not None:
            check_whole("jobs_max", jobs_max, least=0, most=COUNT_MAX)
        retention, removed = Retention(successes_s=successes_s, others_s=others_s), Pruned(is_done=False)
        while True:
            room = PRUNE_BATCH if jobs_max is None else min(PRUNE_BATCH, jobs_max - removed.jobs)
            if room <= 0:
                return removed
            removed = removed.plus(await self.store.prune(self.tenant, retention, room))
            if removed.is_done:
                return removed

    async def purge(self, job_ids: Iterable[str]) -> Pruned:
        """Remove these jobs, with all that is kept of them, for good: only those that have ended, up to 1,000 a call.

        Others, and ids of no job, stay as they are, and are not counted.
        """
        return await self.store.purge(self.tenant, bounded_ids(job_ids))

    async def limit_queue(self, queue: str, *, depth_max: int | None) -> None:
        """How many jobs may wait in a queue: an enqueue beyond is refused (`queue_full`). None: any number."""
        check_text_name("queue", queue)
        if depth_max is not None:
            check_whole("depth_max", depth_max, least=0, most=COUNT_MAX)
        await self.store.limit_queue(self.tenant, queue, depth_max)

    async def verify(
        self, *, all_tenants: bool = False, on_progress: Callable[[int, int], None] = lambda jobs, events: None
    ) -> Report:
        """Hold every record against its log and every move against its lifecycle. Reads only, in bounded memory."""
        check_kind("all_tenants", all_tenants, bool)
        return await verify(self.store, None if all_tenants else self.tenant, on_progress)

    async def replay(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        on_progress: Callable[[int, int], None] = lambda jobs, events: None,
    ) -> Replay:
        """Fold the log up to a moment, or over a period. Up to now, the records must show what it adds up to."""
        first, last = to_micros_or_none("since", since), to_micros_or_none("until", until)
        return await replay(self.store, self.tenant, on_progress, since=first, until=last)

    async def state_at(self, job_id: str, at: datetime) -> State | None:
        """What a job was at a moment, by its log; None: it did not exist yet."""
        return state_at((await self._story(job_id)).events, to_micros("at", at))
