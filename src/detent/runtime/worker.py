"""The worker: it takes jobs, runs their handlers, and says what they came to. Each duty is in a file of its own.

claimer      takes what there is room for, claimed and started in one move
waker        hears that there may be something to claim
slots, threads, children
             the lanes in which handlers run, by their isolation
ending       what to ask of the store for what a handler came to
committer    writes ends, many in one transaction
keeper       renews leases and learns of cancels, on a thread with a client of its own
watchdog     stops what has to stop and names what stands still, on a thread of its own
drain        shuts down without losing anything
reconciler   does what time demands, and removes what is old
gate         asks the policy about jobs that wait for a verdict
scheduler    makes the jobs that the calendar asks for
reporter     tells the store that this worker is there, and what it serves
adapters     leaves jobs that name an adapter to who has it
"""

import asyncio
import os
import signal
import socket
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from contextlib import AsyncExitStack
from time import monotonic
from typing import Any, Final

from detent import kernel
from detent.client import Client
from detent.client.connecting import Connecting
from detent.errors import DetentError, InvalidArgument
from detent.lifecycle.bounds import check_name
from detent.runtime.adapters import Adapters
from detent.runtime.calling import Caller
from detent.runtime.children import Children
from detent.runtime.claimer import Claimer
from detent.runtime.committer import Committer
from detent.runtime.context import Context
from detent.runtime.drain import Drain
from detent.runtime.ending import Ending
from detent.runtime.gate import Gate, Gatekeeper, PolicySource
from detent.runtime.hand import OwnHand
from detent.runtime.handler import Handler, Isolation
from detent.runtime.keeper import Keeper
from detent.runtime.lane import Lane
from detent.runtime.observing import Logging, Observer
from detent.runtime.outcomes import Outcomes
from detent.runtime.reconciler import Pruner, Reconciler
from detent.runtime.reporter import Reporter
from detent.runtime.run import Key, Run
from detent.runtime.scheduler import CronJob, Scheduler
from detent.runtime.settings import Settings
from detent.runtime.slots import Slots
from detent.runtime.stopping import Stopping
from detent.runtime.store_clock import StoreClock
from detent.runtime.tally import Several, Tally
from detent.runtime.threads import Threads
from detent.runtime.waker import Waker
from detent.runtime.watchdog import BEAT_S, Watchdog
from detent.runtime.ways import Atlas
from detent.store.clock import new_id
from detent.store.fleet import Lane as LaneReport
from detent.store.waiting import in_thread

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class Worker:
    """`await worker.run()` works until it is told to stop, and returns when everything is given back or done.

    `connect` makes a client, not yet open: one is for the worker and one for its lease keeper. `tally` counts;
    `observer` is told what happens, and logs it by default. `resolver` is what `ctx.resolve` asks, and `policy` what
    decides on jobs that wait for a verdict: a file of rules, a function, or a `Gate`. `cron` are jobs that the calendar
    asks for, whether or not this worker is one that runs them. `prepare` is called in each child process before
    anything else.
    """

    def __init__(
        self,
        connect: Callable[[], Connecting],
        handlers: Iterable[Handler],
        *,
        settings: Settings | None = None,
        name: str | None = None,
        observer: Observer | None = None,
        resolver: Callable[[str], Any] | None = None,
        policy: PolicySource | None = None,
        cron: Iterable[CronJob] = (),
        prepare: Callable[[], object] | None = None,
    ) -> None:
        self.name = name or f"{socket.gethostname()}-{os.getpid()}-{new_id()[-4:]}"
        check_name("name", self.name)
        self.settings = settings or Settings()
        self.handlers = _by_kind(handlers)
        self.tally = Tally()
        self.live: dict[Key, Run] = {}
        self._cron = tuple(cron)
        self._prepare = prepare
        self._connect = connect
        self._resolver = resolver or _no_resolver
        self._gate = Gate.of(policy)
        self._gate.check()
        self._observer: Observer = Several(self.tally, observer or Logging())
        self._stopping = Stopping(self._observer)
        self._drain = Drain(self.live, self.settings, self._stopping)
        self._denial: DetentError | None = None

    # -- what whoever runs it does

    async def run(self, *, signals: Iterable[int] = ()) -> None:
        """Until it is told to stop, or one of these signals comes; a second one makes it stop at once."""
        async with AsyncExitStack() as stack:
            stack.enter_context(self._drain.listening(signals))
            client = await stack.enter_async_context(self._connect())
            self._take_name(client)
            self._assemble(client)
            stack.push_async_callback(self._close)
            await self._open()
            self._observer.opened(self)
            await self._drain.asked_for(self._duties)
            self._observer.draining(len(self.live), self.settings.grace_s)
            self._reporter.nudge()
            await self._drain.carry_out(self._claimers, self._lanes.values(), self._outcomes, self._committer)
        if self._denial is not None:
            raise self._denial

    def stop(self) -> None:
        """Claim nothing more, let handlers finish within the grace, give the rest back. From the loop's own thread."""
        self._drain.begin()

    def stop_now(self) -> None:
        """Without any grace."""
        self._drain.hurry()

    @property
    def slots(self) -> int:
        """How many handlers can run at once, whatever their isolation."""
        return sum(lane.slots for lane in self.lanes())

    def lanes(self) -> list[LaneReport]:
        """How many can, and how many do, by their isolation."""
        sizes = {"async": self.settings.concurrency, "thread": self.settings.threads, "process": self.settings.children}
        running = Counter(run.handler.isolation for run in tuple(self.live.values()))
        return [
            LaneReport(isolation=each, kinds=self._kinds(each), slots=sizes[each], running=running[each])
            for each in _isolations(self.handlers.values())
        ]

    @property
    def is_draining(self) -> bool:
        return self._drain.is_begun

    # -- putting it together

    def _take_name(self, client: Client) -> None:
        """A token lets its holder act under one worker's name, and under names below it."""
        own: str | None = getattr(client.store, "worker", None)
        if own is not None and not f"{self.name}/".startswith(f"{own}/"):
            self.name = f"{own}/{self.name}"
            check_name("name", self.name)

    def _assemble(self, client: Client) -> None:
        observer, settings = self._observer, self.settings
        self._client = client
        self._loop = asyncio.get_running_loop()
        self._atlas = Atlas(client)
        self._reconciler = Reconciler(client, settings, observer, self._atlas)
        self._pruner = Pruner(client, settings, observer)
        served: Any = {"worker": self.name, "kinds": tuple(self.handlers), "settings": settings, "observer": observer}
        self._adapters = Adapters(client, **served)
        self._gatekeeper = Gatekeeper(client, self._gate, **served, ready=self._ready)
        clock = StoreClock() if self._cron else None
        self._scheduler = None if clock is None else Scheduler(client, self._cron, observer, clock)
        self._reporter = Reporter(
            client, self.name, observer, queues=settings.queues, kinds=tuple(self.handlers), adapters=settings.adapters,
            lanes=self.lanes, is_draining=lambda: self._drain.is_begun, clock=clock,
        )  # fmt: skip
        ending = Ending(self.name, client.codec)
        self._outcomes = Outcomes(
            client,
            ending,
            self.live,
            worker=self.name,
            observer=observer,
            freed=self._freed,
            due=self._reconciler.nudge,
        )
        self._committer = Committer(client, observer, self._outcomes.settled)
        self._outcomes.submit = self._committer.submit
        self._lanes = {isolation: self._lane(isolation) for isolation in _isolations(self.handlers.values())}
        self._claimers = {lane: self._claimer(lane, isolation) for isolation, lane in self._lanes.items()}
        self._watchdog = Watchdog(self.live, self._lanes, settings=settings, observer=observer, stopping=self._stopping)
        self._keeper = Keeper(
            self._connect, self.live, worker=self.name, settings=settings, observer=observer, stopping=self._stopping,
            renewed=self._renewed,
        )  # fmt: skip
        self._duties: list[asyncio.Task[None]] = []
        self._beating: asyncio.TimerHandle | None = None

    def _lane(self, isolation: Isolation) -> Lane:
        caller, ended = Caller(self._client.codec, lambda run: Context(self._hand_of(run))), self._outcomes.ended
        if isolation == "async":
            return Slots(self.settings.concurrency, caller, ended)
        if isolation == "thread":
            return Threads(self.settings.threads, caller, ended)
        luggage = {"connect": self._connect, "resolver": self._resolver, "prepare": self._prepare}
        return Children(
            self.settings.children, caller, ended, hand_of=self._hand_of, codec=self._client.codec, worker=self.name,
            luggage=luggage, freed=self._freed, observer=self._observer,
        )  # fmt: skip

    def _kinds(self, isolation: Isolation) -> tuple[str, ...]:
        return tuple(each.kind for each in self.handlers.values() if each.isolation == isolation)

    def _claimer(self, lane: Lane, isolation: Isolation) -> Claimer:
        return Claimer(
            self._client, lane, self._kinds(isolation), worker=self.name, settings=self.settings,
            observer=self._observer, knows=self._outcomes.knows, taken=self._taken,
            may_claim=lambda: not self._committer.is_congested, denied=self._be_denied,
            spared=lambda: self._adapters.spared,
        )  # fmt: skip

    async def _open(self) -> None:
        for lane in self._lanes.values():
            await lane.open()
        self._keeper.open()
        self._watchdog.open()
        self._beat()
        self._do(self._reporter.run())
        if not getattr(self._client.store, "is_tended", False):  # a service does what time demands by itself
            self._do(self._reconciler.run())
            self._do(self._pruner.run())
        await self._adapters.look()
        self._do(self._adapters.run())
        self._do(self._gatekeeper.run([each.lifecycle for each in self.handlers.values()]))
        if self._scheduler is not None:
            self._do(self._scheduler.run())
        self._do(Waker(self._client, self._observer, self._ready).run())
        for claimer in self._claimers.values():
            self._do(claimer.run())

    async def _close(self) -> None:
        self._outcomes.close()
        await self._reconciler.settled()
        for duty in self._duties:
            duty.cancel()
        await asyncio.gather(*self._duties, return_exceptions=True)
        if self._beating is not None:
            self._beating.cancel()
        self._watchdog.close()
        self._keeper.close()
        for lane in self._lanes.values():
            await lane.close()
        await in_thread(self._keeper.join)
        await self._reporter.leave()

    def _do(self, duty: Coroutine[Any, Any, None]) -> None:
        self._duties.append(self._loop.create_task(duty))

    # -- at work

    async def _taken(self, lane: Lane, jobs: list[kernel.Job], sent_s: float) -> None:
        """Begin what was claimed."""
        heard_s = monotonic()
        try:
            runs = self._runs_of(lane, jobs, sent_s, heard_s)
        except KeyError:
            await self._atlas.learn(jobs)
            runs = self._runs_of(lane, jobs, sent_s, heard_s)
        self.live.update([(run.key, run) for run in runs])
        unstarted = [run for run in runs if run.job.phase == "held"]
        if unstarted:
            self._refuse(unstarted)
            runs = [run for run in runs if run.job.phase != "held"]
        lane.begin(self._outcomes.give_back(runs) if self._drain.is_begun else runs)

    def _refuse(self, runs: list[Run]) -> None:
        """Their lifecycle gives the start to somebody else, so that no handler could run as the record says."""
        self._outcomes.forget(self._outcomes.give_back(runs))
        lifecycle = runs[0].job.spec.lifecycle
        message = f"lifecycle '{lifecycle}' does not let an owner start its jobs, so a worker cannot run them"
        self._observer.troubled("claim", InvalidArgument(f"{message}; give start to 'owner', or serve other kinds"))

    def _runs_of(self, lane: Lane, jobs: list[kernel.Job], sent_s: float, heard_s: float) -> list[Run]:
        atlas, handlers = self._atlas, self.handlers
        return [Run(job, handlers[job.spec.kind], atlas[job], lane, sent_s=sent_s, heard_s=heard_s) for job in jobs]

    def _hand_of(self, run: Run) -> OwnHand:
        return OwnHand(run, self._client, self.name, self._stopping, self._resolver)

    def _be_denied(self, error: DetentError) -> None:
        """It is told once, by whoever runs the worker; what runs still has its grace."""
        self._denial = error
        self._drain.begin()

    def _freed(self) -> None:
        for claimer in self._claimers.values():
            claimer.freed()

    def _ready(self) -> None:
        for claimer in self._claimers.values():
            claimer.nudge()

    def _renewed(self, run: Run) -> None:
        """On the keeper's thread."""
        self._loop.call_soon_threadsafe(self._committer.renewed, run)

    def _beat(self) -> None:
        self._watchdog.beat()
        self._beating = self._loop.call_later(BEAT_S, self._beat)


def _by_kind(handlers: Iterable[Handler]) -> dict[str, Handler]:
    known: dict[str, Handler] = {}
    for handler in handlers:
        if handler.kind in known:
            raise InvalidArgument(f"two handlers are for kind '{handler.kind}'; a kind has one")
        if handler.isolation == "process" and handler.address is None:
            message = f"the handler of kind '{handler.kind}' has no address, by which another process could find it"
            raise InvalidArgument(f"{message}; declare it at the top level of a module")
        known[handler.kind] = handler
    if not known:
        raise InvalidArgument("a worker without handlers has nothing to run; give it at least one")
    return known


def _isolations(handlers: Iterable[Handler]) -> list[Isolation]:
    return list(dict.fromkeys(handler.isolation for handler in handlers))


def _no_resolver(pointer: str) -> Any:
    raise InvalidArgument(f"no resolver is configured that could say what {pointer!r} leads to; set one on the App")
