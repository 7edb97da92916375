"""What runs in every worker beside its handlers: doing what time demands, and removing what is old enough.

Any number may run at once: they pass over what another has in hand. Each batch is bounded, and after a full one comes
a breath, so that thousands of leases that end together do not keep everybody else from writing.
"""

import asyncio
from typing import Final

from detent.client import Client
from detent.kernel import Job
from detent.kernel.budget import is_waiting_for_a_person
from detent.kernel.failure import EXPIRED
from detent.runtime.backing_off import jittered
from detent.runtime.duty import for_ever, nudged_within
from detent.runtime.observing import Observer
from detent.runtime.settings import Settings
from detent.runtime.ways import Atlas
from detent.store import Reply

BREATH_S: Final = 0.05
STOP_S: Final = 1.0  # for a round that is under way when it is to stop
PRUNED_MAX: Final = 10_000  # jobs in a round


class Reconciler:
    def __init__(self, client: Client, settings: Settings, observer: Observer, atlas: Atlas) -> None:
        self._client = client
        self._settings = settings
        self._observer = observer
        self._atlas = atlas
        self._nudged = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    def nudge(self) -> None:
        """Something has just fallen due."""
        self._nudged.set()

    async def run(self) -> None:
        await for_ever("reconcile", self._round, self._observer)

    async def settled(self) -> None:
        """Wait, a little, for what is under way: nobody but this worker will tell what it came to."""
        await nudged_within(STOP_S, self._idle)

    async def _round(self) -> None:
        self._nudged.clear()
        self._idle.clear()
        try:
            count = await self._reconcile()
        finally:
            self._idle.set()
        if count == self._settings.reconcile_max:
            await asyncio.sleep(jittered(BREATH_S))
            return
        await nudged_within(jittered(self._settings.reconcile_s), self._nudged)

    async def _reconcile(self) -> int:
        replies = await self._client.store.reconcile(self._settings.reconcile_max)
        if replies:
            await self._tell([reply.job for reply in replies if isinstance(reply, Reply)])
        return len(replies)

    async def _tell(self, jobs: list[Job]) -> None:
        self._observer.reconciled(len(jobs))
        await self._atlas.learn(jobs)
        self._observer.expired(sum(_has_expired(job) and job.state in self._atlas[job].expired for job in jobs))
        for job in jobs:
            if job.state in self._atlas[job].dead_letters:
                self._observer.buried(job)
            elif _is_given_up(job):
                self._observer.given_up(job)


class Pruner:
    def __init__(self, client: Client, settings: Settings, observer: Observer) -> None:
        self._client = client
        self._settings = settings
        self._observer = observer

    async def run(self) -> None:
        if self._settings.retention is not None:
            await for_ever("prune", self._round, self._observer)

    async def _round(self) -> None:
        await asyncio.sleep(jittered(self._settings.prune_s))
        await self.prune()

    async def prune(self) -> None:
        """Once, of the client's tenant."""
        kept = self._settings.retention
        assert kept is not None, "without a retention nothing is pruned"
        pruned = await self._client.prune(
            successes_s=kept.successes_s, others_s=kept.others_s, jobs_max=PRUNED_MAX
        )  # fmt: skip
        self._observer.pruned(pruned.jobs)


def _is_given_up(job: Job) -> bool:
    """A job that somebody wanted cancelled is not; it may count as a failure all the same."""
    if job.error is not None:
        return job.error.category != "cancelled"
    return job.phase == "parked" and is_waiting_for_a_person(job)


def _has_expired(job: Job) -> bool:
    """Whether that is the last thing that went wrong with it."""
    error = job.error or job.last_error
    return error is not None and error.type == EXPIRED
