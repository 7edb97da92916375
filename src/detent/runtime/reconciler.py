"""What runs in every worker beside its handlers: doing what time demands, and removing what is old enough.

Any number may run at once: they pass over what another has in hand. Each batch is bounded, and after a full one comes
a breath, so that thousands of leases that end together do not keep everybody else from writing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from detent.client import Client
from detent.errors import DetentError
from detent.runtime.backing_off import Backoff, jittered
from detent.runtime.observing import Observer
from detent.runtime.settings import Settings

BREATH_S: Final = 0.05
PRUNED_MAX: Final = 10_000  # jobs in a round


class Reconciler:
    def __init__(self, client: Client, settings: Settings, observer: Observer) -> None:
        self._client = client
        self._settings = settings
        self._observer = observer
        self._nudged = asyncio.Event()

    def nudge(self) -> None:
        """Something has just fallen due."""
        self._nudged.set()

    async def run(self) -> None:
        await _for_ever("reconcile", self._round, self._observer)

    async def _round(self) -> None:
        limit = self._settings.reconcile_max
        self._nudged.clear()
        count = await self._client.reconcile(limit)
        if count:
            self._observer.reconciled(count)
        if count == limit:
            await asyncio.sleep(jittered(BREATH_S))
            return
        try:
            await asyncio.wait_for(self._nudged.wait(), jittered(self._settings.reconcile_s))
        except TimeoutError:
            return  # nobody nudged it: it looks by itself


class Pruner:
    def __init__(self, client: Client, settings: Settings, observer: Observer) -> None:
        self._client = client
        self._settings = settings
        self._observer = observer

    async def run(self) -> None:
        if self._settings.retention is not None:
            await _for_ever("prune", self._round, self._observer)

    async def _round(self) -> None:
        await asyncio.sleep(jittered(self._settings.prune_s))
        kept = self._settings.retention
        assert kept is not None, "without a retention nothing is pruned"
        pruned = await self._client.prune(
            successes_s=kept.successes_s, others_s=kept.others_s, jobs_max=PRUNED_MAX
        )  # fmt: skip
        self._observer.pruned(pruned.jobs)


async def _for_ever(duty: str, work: Callable[[], Awaitable[None]], observer: Observer) -> None:
    patience = Backoff()
    while True:
        try:
            await work()
            patience.succeeded()
        except DetentError as error:
            observer.troubled(duty, error)
            await patience.wait()
