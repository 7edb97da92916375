"""A store in memory: for tests, and to show how little a store has to do. It decides nothing; the planning does.

Nothing in it waits between reading and writing, so on an event loop every method is atomic; a lock makes it so for
threads.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from threading import Lock
from typing import Final

from detent.errors import InvalidArgument
from detent.kernel import Job
from detent.lifecycle import Lifecycle
from detent.lifecycle.registry import Registry
from detent.store import (
    ClaimRequest,
    Entry,
    EventQuery,
    JobQuery,
    Migration,
    Page,
    Plan,
    Pruned,
    Replies,
    Request,
    Retention,
    Story,
    plan,
    plan_claim,
    plan_due,
)
from detent.store.clock import Clock, Random, host_clock, host_random
from detent.store.judging import spaced
from detent.store.keeping import Keeping
from detent.store.limits import HOLDERS_MAX, KeyReport, KeyUses
from detent.store.protocol import Transaction
from detent.store.query import Counts, number_of
from detent.store.request import Key
from detent.store.waiting import now_s, sleep
from detent.testing import asking
from detent.testing.fleet import FleetInMemory
from detent.testing.shelf import Shelf
from detent.testing.tokens import TokensInMemory

POLL_S: Final = 0.005


class MemoryStore(FleetInMemory, TokensInMemory):
    """It ends with the process, and has no transactions for its callers."""

    def __init__(self, *, clock: Clock = host_clock, random: Random = host_random, kept: Keeping | None = None) -> None:
        self._clock = clock
        self._random = random
        self._lock = Lock()
        self.shelf = Shelf(kept or Keeping())

    async def open(self) -> None:
        """It is ready from the start."""

    async def close(self) -> None:
        """It holds nothing but memory."""

    async def migrations(self) -> list[Migration]:
        """It has no schema."""
        return []

    async def register(self, *lifecycles: Lifecycle) -> list[Lifecycle]:
        with self._lock:
            known = self.shelf.lifecycles
            Registry(*known.values(), *lifecycles)  # refuses another content under a known version
            for lifecycle in lifecycles:
                known.setdefault((lifecycle.name, lifecycle.version), lifecycle)
            return list(known.values())

    async def apply(self, requests: Sequence[Request], tx: Transaction | None = None) -> Replies:
        return self._write(lambda shelf: plan(requests, shelf, shelf.now, self._random), tx)

    async def claim(self, request: ClaimRequest, tx: Transaction | None = None) -> Replies:
        return self._write(lambda shelf: plan_claim(request, asking.claimable(shelf, request), shelf, shelf.now), tx)

    async def claimable(self, request: ClaimRequest) -> list[Job]:
        with self._lock:
            self.shelf.now = self._clock()
            uses = KeyUses(self.shelf)
            found = asking.claimable(self.shelf, request)
            free = [job for job in found if job.spec.limit_key is None or uses.admits(job, self.shelf.now)]
            return free[: request.limit]

    async def reconcile(self, limit: int) -> Replies:
        return self._write(lambda shelf: plan_due(asking.waking(shelf)[:limit], shelf, shelf.now, self._random))

    async def get(self, tenant: str, job_ids: Sequence[str]) -> list[Job | None]:
        with self._lock:
            return [self.shelf.job(tenant, job_id) for job_id in job_ids]

    async def find(self, query: JobQuery, limit: int, cursor: str | None = None) -> Page[Job]:
        with self._lock:
            shelf, before = self.shelf, number_of(cursor, self.shelf.last_number + 1)
            asked = (key for key in reversed(shelf.jobs) if asking.is_job_meant(shelf.jobs[key], query))
            page = list(islice((key for key in asked if shelf.numbers[key] < before), limit))
            return Page([shelf.jobs[key] for key in page], self._next(page, limit))

    async def count(self, query: JobQuery, by: Sequence[str]) -> Counts:
        with self._lock:
            asked = [job for job in self.shelf.jobs.values() if asking.is_job_meant(job, query)]
            counts = Counter(tuple(asking.value_of(job, name) for name in by) for job in asked)
            return dict(counts) if by else {(): len(asked)}

    async def unjudged(
        self, tenant: str, queues: Sequence[str], kinds: Sequence[str], limit: int, cursor: str | None = None
    ) -> Page[Job]:
        with self._lock:
            after, meant = number_of(cursor), asking.unjudged(self.shelf, tenant, queues, kinds)
            page = list(islice((key for key in meant if self.shelf.numbers[key] > after), limit))
            return Page([self.shelf.jobs[key] for key in page], self._next(page, limit))

    async def events(self, query: EventQuery, limit: int, cursor: str | None = None) -> Page[Entry]:
        with self._lock:
            shelf, after = self.shelf, number_of(cursor, 0)
            asked = (place for place, event in shelf.log.items() if asking.is_event_meant(shelf, event, query))
            entries = [Entry(str(at), shelf.event(at)) for at in islice((at for at in asked if at > after), limit)]
            return Page(entries, entries[-1].cursor if len(entries) == limit else str(max(shelf.end, after)))

    async def recent(self, query: EventQuery, limit: int) -> Page[Entry]:
        with self._lock:
            places, reached = asking.newest(self.shelf, query, limit)
            return Page([Entry(str(at), self.shelf.event(at)) for at in places], str(reached) if reached else None)

    async def wait(self, cursor: str | None, timeout_s: float) -> str:
        deadline = now_s() + timeout_s
        while (cursor is None or self.shelf.end <= number_of(cursor, 0)) and now_s() < deadline:
            await sleep(POLL_S)
        return str(self.shelf.end)

    async def news(self, seen: str | None, timeout_s: float) -> str:
        return await self.wait(seen, 0 if seen is None else timeout_s)

    async def stories(
        self, tenant: str | None, limit: int, cursor: str | None = None, job_id: str | None = None
    ) -> Page[Story]:
        with self._lock:
            shelf = self.shelf
            after, _, last = (cursor or f"0:{shelf.last_number}").partition(":")  # it ends with what there was
            asked = (key for key in shelf.jobs if tenant in (None, key[0]) and job_id in (None, key[1]))
            walked = (key for key in asked if number_of(after) < shelf.numbers[key] <= number_of(last))
            page = list(islice(walked, limit))
            further = self._next(page, limit)
            return Page([shelf.story(key) for key in page], None if further is None else f"{further}:{last}")

    async def check(self) -> list[str]:
        with self._lock:
            revisions = sum(job.rev for job in self.shelf.jobs.values())
            missing = revisions - len(self.shelf.log)
            return [f"{missing} revisions without an event"] if missing else []

    async def limit_queue(self, tenant: str, queue: str, depth_max: int | None) -> None:
        self.shelf.depths_max[tenant, queue] = depth_max

    async def key_use(self, tenant: str, limit_key: str) -> KeyReport:
        with self._lock:
            own = [job for job in self.shelf.jobs.values() if job.spec.tenant == tenant and job.is_leased]
            held = [job for job in own if job.spec.limit_key == limit_key]
            first = sorted(held, key=lambda job: (job.claimed_at, self.shelf.numbers[tenant, job.id]))[:HOLDERS_MAX]
            return KeyReport(self.shelf.use(tenant, limit_key), [(job.id, job.owner or "") for job in first])

    async def advance_schedule(
        self, tenant: str, name: str, *, expected: int, next_at: int, requests: Sequence[Request] = ()
    ) -> Replies | None:
        with self._lock:
            if not self.shelf.has_tick(tenant, name, expected, next_at):
                return None
            return self._written(lambda shelf: plan(requests, shelf, shelf.now, self._random))

    async def pace(self, tenant: str, rule: str, every: int, requests: Sequence[Request]) -> Replies:
        def paced(shelf: Shelf) -> Plan:
            jobs, next_at = [shelf.job(each.tenant, each.job_id) for each in requests], shelf.paces.get((tenant, rule))
            timed, shelf.paces[tenant, rule] = spaced(
                requests, jobs, next_at=next_at or 0, every=every, now=shelf.now
            )  # fmt: skip
            return plan(timed, shelf, shelf.now, self._random)

        return self._write(paced)

    async def prune(self, tenant: str, retention: Retention, limit: int) -> Pruned:
        with self._lock:
            self.shelf.now = self._clock()
            old = [key for key in self.shelf.jobs if asking.is_old(self.shelf, key, tenant, retention)][:limit]
            events = sum(self.shelf.remove(key) for key in old)
            details, receipts = self.shelf.expire(limit)
            return Pruned(len(old), events, details, receipts, is_done=max(len(old), details, receipts) < limit)

    async def purge(self, tenant: str, job_ids: Sequence[str]) -> Pruned:
        with self._lock:
            named = [job for each in set(job_ids) if (job := self.shelf.job(tenant, each)) is not None]
            ended = [job.id for job in named if job.is_ended]
            return Pruned(len(ended), sum(self.shelf.remove((tenant, job_id)) for job_id in ended))

    def _next(self, page: list[Key], limit: int) -> str | None:
        return str(self.shelf.numbers[page[-1]]) if len(page) == limit else None

    def _write(self, planned: Callable[[Shelf], Plan], tx: Transaction | None = None) -> Replies:
        if tx is not None:
            raise InvalidArgument("a store in memory has no transactions; leave tx= out", code="bad_transaction")
        with self._lock:
            return self._written(planned)

    def _written(self, planned: Callable[[Shelf], Plan]) -> Replies:
        self.shelf.now = self._clock()
        made = planned(self.shelf)
        self.shelf.write(made)
        return made.replies
