"""How things stand in the store: read when somebody asks, and then kept for a while, however often they ask."""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

from detent.errors import DetentError, InvalidArgument
from detent.kernel.dead_letter import dead_letter_states
from detent.lifecycle.words import PHASES
from detent.runtime.counting import Table
from detent.store import JobQuery, Store
from detent.store.clock import Clock, host_clock
from detent.store.fleet import SEEN_S
from detent.surfaces.telemetry import families
from detent.surfaces.telemetry.exposition import Family, Samples, Values
from detent.surfaces.telemetry.meter import Meter

KEPT_S: Final = 5.0
# A store in which so many jobs wait that counting them takes long is counted less often: a scraper never keeps it busy
# for more than one part in so many.
SPARED: Final = 20
TENANTS_MAX: Final = 20
_LIVE: Final = tuple(phase for phase in PHASES if phase != "ended")

Told = list[tuple[Family, Samples]]


class Gauges:
    """Of these tenants alone: a store may have any number of them, and a label may not."""

    def __init__(
        self,
        store: Store,
        meter: Meter,
        tenants: Sequence[str] = ("default",),
        *,
        clock: Clock = host_clock,
        timer: Callable[[], float] = monotonic,
    ) -> None:
        if len(tenants) > TENANTS_MAX:
            raise InvalidArgument(f"there are gauges of {len(tenants)} tenants; name at most {TENANTS_MAX}")
        self._store = store
        self._meter = meter
        self._tenants = tuple(tenants)
        self._clock = clock
        self._timer = timer
        self._reading = asyncio.Lock()  # many who ask at once share one look
        self._seen = Standing()
        self._until_s = -1.0

    async def families(self) -> Told:
        """Nothing, if the store cannot be asked: an old figure would look like a new one."""
        async with self._reading:
            if self._timer() >= self._until_s:
                await self._look()
            return self._seen.families(self._clock())

    async def _look(self) -> None:
        began_s = self._timer()
        try:
            self._seen = await self._read()
        except DetentError as error:
            self._meter.failed(error)
            self._seen = Standing()
        ended_s = self._timer()
        self._until_s = ended_s + max(KEPT_S, SPARED * (ended_s - began_s))

    async def _read(self) -> "Standing":
        standing = Standing()
        for tenant in self._tenants:
            for phase in _LIVE:
                counts = await self._store.count(JobQuery(tenant=tenant, phase=phase), ["queue"])
                for (queue,), count in counts.items():
                    standing.jobs.add(tenant, queue or "", phase, count=count)
            for queue, since in (await self._store.oldest_ready(tenant)).items():
                standing.wait(tenant, queue, since)
            await self._read_letters(tenant, standing)
            for facts in await self._store.queues(tenant):
                if facts.paused_at is not None:
                    standing.paused.add(tenant, facts.name)
            standing.workers[tenant,] = len(await self._store.workers(tenant, SEEN_S))
        return standing

    async def _read_letters(self, tenant: str, standing: "Standing") -> None:
        for state in dead_letter_states(await self._store.register()):
            query = JobQuery(tenant=tenant, state=state, outcome="failure")
            for (queue,), count in (await self._store.count(query, ["queue"])).items():
                standing.letters.add(tenant, queue or "", count=count)


class Standing:
    """What was seen at one look. Ages go on from there by themselves."""

    def __init__(self) -> None:
        self.jobs = Table(*families.JOBS.labels)
        self.letters = Table(*families.LETTERS.labels)
        self.paused = Table(*families.PAUSED.labels)
        self.workers = Table(*families.WORKERS.labels)
        self._names = Table(*families.OLDEST.labels)
        self._since: dict[Values, int] = {}

    def wait(self, tenant: str, queue: str, since: int) -> None:
        """Of queues that are counted together, the oldest job."""
        key = self._names.add(tenant, queue)
        self._since[key] = min(since, self._since.get(key, since))

    def families(self, now: int) -> Told:
        return [
            (families.JOBS, self.jobs),
            (families.OLDEST, {key: max(now - since, 0) / 1e6 for key, since in self._since.items()}),
            (families.LETTERS, self.letters),
            (families.PAUSED, self.paused),
            (families.WORKERS, self.workers),
        ]
