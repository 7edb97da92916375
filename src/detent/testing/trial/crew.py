"""Who works in a trial: a worker for each tenant. Each step is one attempt at a job."""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final

from detent import kernel
from detent.app import App
from detent.client import Client
from detent.errors import InvalidArgument
from detent.kernel.clock import earliest
from detent.runtime.handler import Handler
from detent.runtime.observing import Logging, Observer
from detent.store import JobQuery
from detent.store.query import PAGE_MAX
from detent.testing.trial.clock import TrialClock
from detent.testing.trial.inline import Inline
from detent.testing.trial.loops import Loops
from detent.testing.trial.mishaps import Mishaps
from detent.testing.trial.played import Played
from detent.testing.trial.upkeep import Upkeep

LIVE: Final = ("parked", "ready", "held", "active")
# In how many handlers, each waiting for a job that the next one runs, we are.
_DEPTH: Final[ContextVar[int]] = ContextVar("detent_trial_depth", default=0)


class Crew:
    """`played` is all that was done, in the order in which it ended."""

    def __init__(self, app: App, clock: TrialClock, mishaps: Mishaps) -> None:
        self._app = app
        self._clock = clock
        self._mishaps = mishaps
        self._observer: Observer = Logging()
        self._loops = Loops()
        self._upkeep = Upkeep(app, clock, self._loops, self._observer)
        self._at_work: dict[str, Inline] = {}  # by tenant
        self._everybody: list[Inline] = []  # those, too, that died: a job that waits for another may still be theirs
        self._stepping: set[int] = set()
        self.played: list[Played] = []

    @property
    def depth(self) -> int:
        """How deep in handlers whoever asks is; 0: it is the test itself."""
        return _DEPTH.get()

    @property
    def is_stepping(self) -> bool:
        """Whether somebody beside whoever asks lets the trial go on already."""
        return self.depth in self._stepping

    async def step(self, queues: Sequence[str] | None = None) -> bool:
        """Do what time demands, and make one attempt; False: none was due."""
        depth = self.depth
        self._stepping.add(depth)
        token = _DEPTH.set(depth + 1)
        try:
            await self._upkeep.do([worker.client for worker in await self._workers()])
            return await self._attempt(None if queues is None else tuple(queues))
        finally:
            _DEPTH.reset(token)
            self._stepping.discard(depth)

    async def next_at(self, *, calendar: bool = False) -> int | None:
        """When the next thing comes due, of all that nobody has in hand. The calendar's ticks have no end: if asked."""
        held = {run.job.id for worker in self._everybody for run in worker.live}
        now, moments = self._clock(), [await self._upkeep.next_tick() if calendar else None]
        for worker in await self._workers():
            for job in await _living(worker.client):
                if job.id not in held:
                    moments += [at for at in (job.claim_at, job.wake_at) if at is not None and at > now]
        return earliest(*moments)

    async def bring(self) -> None:
        """Time is about to pass: what the calendar asks for has to be known."""
        await self._upkeep.bring()

    def attend(self) -> None:
        """Time has passed: do what that demands for the handlers that run."""
        for worker in list(self._everybody):
            worker.attend()

    def next_renewal(self) -> int | None:
        return earliest(*(worker.next_at() for worker in list(self._everybody)))

    def close(self) -> None:
        self._loops.close()

    async def _attempt(self, queues: tuple[str, ...] | None) -> bool:
        for worker in await self._workers():
            played = await worker.step(queues)
            if played is not None:
                self.played.append(played)
                return True
        return False

    async def _workers(self) -> list[Inline]:
        """One for each tenant that jobs are declared for. In place of one that died comes another."""
        own = await self._app.aclient()
        tenants = [own.tenant, *(each.tenant or own.tenant for each in self._app.registrations())]
        return [self._worker(own, tenant) for tenant in dict.fromkeys(tenants)]

    def _worker(self, own: Client, tenant: str) -> Inline:
        worker = self._at_work.get(tenant)
        if worker is None or worker.is_dead:
            client = Client(own.store, tenant=tenant, codec=own.codec, lifecycles=())
            worker = self._at_work[tenant] = self._hired(client)
            self._everybody.append(worker)
        return worker

    def _hired(self, client: Client) -> Inline:
        return Inline(
            client,
            f"worker-{len(self._everybody) + 1}",
            handlers=self._handlers,
            clock=self._clock,
            mishaps=self._mishaps,
            loops=self._loops,
            observer=self._observer,
            resolver=self._app.resolver or _no_resolver,
        )

    def _handlers(self) -> Mapping[str, Handler]:
        return {handler.kind: handler for handler in self._app.handlers()}


async def _living(client: Client) -> list[kernel.Job]:
    found: list[kernel.Job] = []
    for phase in LIVE:
        query, cursor = JobQuery(tenant=client.tenant, phase=phase), None
        while True:
            page = await client.store.find(query, PAGE_MAX, cursor)
            found += page.items
            cursor = page.cursor
            if cursor is None:
                break
    return found


def _no_resolver(pointer: str) -> Any:
    raise InvalidArgument(f"no resolver is configured that could say what {pointer!r} leads to; set one on the App")
