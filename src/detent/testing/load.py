"""A mixed load: every way through every lifecycle, by dice, over a real client. Any number of processes may share it.

Each `Load` plays all the parts: it enqueues, passes verdicts, works, fails, goes missing, comes back too late, cancels
and reconciles. What it was told it counts, so that the store's own counts can be held against it.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final

from msgspec import Struct, field

from detent.client import Client, Job
from detent.errors import Refused
from detent.lifecycle import Lifecycle
from detent.store.waiting import now_s
from detent.testing.dice import GO_MISSING, LEASE_S, START, WAYS, Dice

BATCH: Final = 20
PAGE: Final = 50
CLAIM_MAX: Final = 4
IDLE_S: Final = 0.01
LIVE_PHASES: Final = ("parked", "ready", "held", "active")
# What a rival's move, or a lease that ran out, may make of a call that was right when it was decided on.
EXPECTED: Final = frozenset({"illegal_move", "wrong_actor", "not_owner", "lease_expired", "stale_rev"})


class Tally(Struct):
    """What one load was told. `mutations` are the revisions that its own calls brought about."""

    mutations: int = 0
    done: Counter[str] = field(default_factory=Counter)  # by verb
    refused: Counter[str] = field(default_factory=Counter)  # by code


class Load:
    """`name` tells loads apart; the same seed throws the same dice, though rivals change what they are thrown for."""

    def __init__(self, client: Client, *, name: str, seed: int) -> None:
        self._client = client
        self._name = name
        self._dice = Dice(seed)
        self._requests = 0
        self._missing: list[tuple[float, Job, str]] = []  # since when, with which job, who
        self.tally = Tally()

    async def enqueue(self, count: int, *, lifecycle: str) -> None:
        """New jobs, half of them by themselves and half in batches."""
        for first in range(0, count, BATCH):
            items = [self._item(lifecycle) for _ in range(min(BATCH, count - first))]
            alone, together = items[: BATCH // 2], items[BATCH // 2 :]
            answers = [await self._client.enqueue(**item) for item in alone]
            made = answers + [job for job in await self._client.enqueue_many(together) if isinstance(job, Job)]
            assert len(made) == len(items), f"{len(items) - len(made)} of {len(items)} enqueues were refused"
            self._count("enqueue", sum(job.rev for job in made))

    async def run(self, *, workers: int = 4, wait_s: float = 120.0) -> Tally:
        """Play all the parts until nothing in the store is live, or for so long at most."""
        deadline_s = now_s() + wait_s
        names = [f"{self._name}.{number}" for number in range(workers)]
        parts: list[Callable[[], Awaitable[None]]] = [lambda name=name: self._work(name) for name in names]  # type: ignore[misc]
        await asyncio.gather(*(self._play(part, deadline_s) for part in (*parts, self._oversee, self._keep_time)))
        return self.tally

    async def _play(self, part: Callable[[], Awaitable[None]], deadline_s: float) -> None:
        while await self._is_live():
            if now_s() > deadline_s:
                raise TimeoutError(f"load {self._name}: jobs are still live when its time is over")
            await part()

    async def _work(self, worker: str) -> None:
        """Claim some jobs, and do something about each. A claim may come with its start, and may be asked twice."""
        start = self._dice.chance(0.5)
        asked: dict[str, Any] = {"worker": worker, "limit": self._dice.up_to(CLAIM_MAX), "start": start}
        asked["request_id"] = self._request_id()
        claimed = await self._client.claim(**asked)
        for job in claimed:
            self._count("claim", 2 if start and START in (await self._lifecycle(job)).table.targets else 1)
        if claimed and self._dice.chance(0.1):
            await self._client.claim(**asked)
        for job in claimed:
            await self._attempt(job, worker)
        if not claimed:
            await asyncio.sleep(IDLE_S)

    async def _attempt(self, job: Job | None, worker: str) -> None:
        """Step by step, until the job is out of this worker's hands."""
        while job is not None and job.owner == worker:
            way = self._dice.way(await self._lifecycle(job), job)
            if way == GO_MISSING:
                self._missing.append((now_s(), job, worker))
                return
            job = await self._take(way, job, worker)

    async def _take(self, way: str, job: Job, worker: str) -> Job | None:
        _, verb, more = WAYS.get(way, (0, way, {}))
        return await self._ask(verb, job, worker=worker, attempt=job.attempt, **more)

    async def _oversee(self) -> None:
        """Look after what waits for a person, and have some of the missing workers come back with a result."""
        for phase in ("parked", "ready", "active"):
            page = await self._client.find(phase=phase, limit=PAGE)
            for job in self._dice.some(page.items, BATCH):
                await self._look_at(job)
        while self._missing and self._missing[0][0] + 1.5 * LEASE_S < now_s():
            _, job, worker = self._missing.pop(0)
            await self._take("succeed", job, worker)
        await asyncio.sleep(IDLE_S)

    async def _look_at(self, job: Job) -> None:
        """Submit, pass a verdict, lift a hold, send a stalled job round again; and cancel now and then."""
        declared = (await self._lifecycle(job)).table.routes[job.state]
        if "cancel" in declared and self._dice.chance(0.03):
            await self._ask("cancel", job, mode="hard" if self._dice.chance(0.5) else "soft", actor="operator")
        elif "submit" in declared:
            await self._ask("submit", job)
        elif "schedule" in declared:
            await self._ask("schedule", job, **self._dice.verdict())
        elif "approve" in declared and job.verdict == "hold" and job.claim_at is None:
            await self._ask("approve" if self._dice.chance(0.8) else "deny", job, actor="operator")
        elif "requeue" in declared and job.wake_at is None:
            await self._ask("requeue", job, actor="operator")

    async def _keep_time(self) -> None:
        self._count("reconcile", await self._client.reconcile(limit=BATCH))
        await asyncio.sleep(IDLE_S)

    async def _ask(self, verb: str, job: Job, **given: Any) -> Job | None:
        """One verb on the job as it was seen; a rival may have moved it since. Now and then it is asked twice."""
        call = getattr(self._client, verb)
        asked = given | {"expected_rev": job.rev, "request_id": self._request_id()}
        try:
            answered: Job = await call(job.id, **asked)
        except Refused as refused:
            if refused.code not in EXPECTED:
                raise
            self.tally.refused[refused.code] += 1
            return None
        if answered.answer == "applied" and self._dice.chance(0.05):
            await call(job.id, **asked)
        # Where a rival had already done it, nothing was done here.
        self._count(verb, answered.rev - job.rev if answered.answer == "applied" else 0)
        return answered

    async def _is_live(self) -> bool:
        for phase in LIVE_PHASES:
            if (await self._client.find(phase=phase, limit=1)).items:
                return True
        return False

    async def _lifecycle(self, job: Job) -> Lifecycle:
        return await self._client.lifecycle(job.lifecycle, job.lifecycle_version)

    def _item(self, lifecycle: str) -> dict[str, Any]:
        return self._dice.item(lifecycle) | {"request_id": self._request_id()}

    def _request_id(self) -> str:
        self._requests += 1
        return f"{self._name}/{self._requests}"

    def _count(self, verb: str, mutations: int) -> None:
        self.tally.done[verb] += 1
        self.tally.mutations += mutations
