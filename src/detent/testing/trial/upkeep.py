"""What every worker does beside its handlers: what time demands, what the policy says, what the calendar asks for."""

from collections.abc import Sequence
from contextvars import copy_context
from datetime import datetime
from typing import Final

from detent.app import App
from detent.client import Client
from detent.client.moments import to_micros
from detent.kernel.clock import earliest
from detent.runtime.gate import Gate, Gatekeeper
from detent.runtime.observing import Observer
from detent.runtime.scheduler import Scheduler
from detent.runtime.settings import Settings
from detent.runtime.store_clock import StoreClock
from detent.store import JobQuery
from detent.store.judging import unjudged_states
from detent.testing.trial.clock import TrialClock
from detent.testing.trial.loops import Loops

RECONCILE_MAX: Final = 1_000
NAME: Final = "worker-1"  # who the policy's verdicts come from


class Upkeep:
    def __init__(self, app: App, clock: TrialClock, loops: Loops, observer: Observer) -> None:
        self._app = app
        self._clock = clock
        self._loops = loops
        self._observer = observer
        self._scheduler: Scheduler | None = None
        self._kinds: list[str] = []

    async def do(self, clients: Sequence[Client]) -> None:
        """All that is due now."""
        await clients[0].reconcile(RECONCILE_MAX)
        await self.bring()
        if self._scheduler is not None:
            await self._scheduler.look()
        for client in clients:
            await self._judge(client)

    async def bring(self) -> None:
        """What the calendar asks for is known from when it was declared, or at least before time passes."""
        cron = self._app.cron()
        if [each.name for each in cron] != self._kinds:
            self._kinds = [each.name for each in cron]
            self._scheduler = Scheduler(await self._app.aclient(), cron, self._observer, _Time(self._clock))
        if self._scheduler is not None:
            await self._scheduler.bring()

    async def next_tick(self) -> int | None:
        """When the calendar asks for a job next."""
        if self._scheduler is None:
            return None
        kept = await self._scheduler.kept()
        return earliest(*(to_micros("next_at", each.next_at) for each in kept))

    async def _judge(self, client: Client) -> None:
        """The policy is asked on an event loop, where it may be a coroutine and may take too long."""
        kinds = [each.kind for each in self._app.registrations() if any(unjudged_states([each.lifecycle]))]
        if not kinds:
            return
        counts = await client.store.count(JobQuery(tenant=client.tenant), ("queue",))
        queues = tuple(sorted(queue for (queue,) in counts if queue is not None))
        if queues:
            settings, gate = Settings(queues=queues), Gate.of(self._app.policy)
            keeper = Gatekeeper(
                client, gate, worker=NAME, kinds=kinds, settings=settings, observer=self._observer, ready=_nothing
            )
            await self._loops.awaited(keeper.walk(), copy_context())


def _nothing() -> None:
    """What has become claimable is found by the next look."""


class _Time(StoreClock):
    """The test's, and nothing has to be heard first."""

    def __init__(self, clock: TrialClock) -> None:
        super().__init__()
        self._clock = clock

    def now(self) -> datetime:
        return self._clock.now
