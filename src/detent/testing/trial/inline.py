"""A worker without processes and lanes: one attempt at a time, where the test runs, by the parts of the real one.

What is asked of the store, and in what order, is the worker's (`detent.runtime`): the claim, the call, the context, the
end. Only time and concurrency are not.
"""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from contextvars import Context as Variables
from contextvars import copy_context
from time import monotonic
from typing import Any, Final

from detent import kernel
from detent.client import Client, SyncClient
from detent.errors import InvalidArgument, Stopped
from detent.kernel.clock import SECOND
from detent.kernel.command import Claim
from detent.runtime.calling import Caller, Unfit
from detent.runtime.context import Context
from detent.runtime.faults import Fault, fault_of
from detent.runtime.hand import OwnHand
from detent.runtime.handler import Handler
from detent.runtime.observing import Observer
from detent.runtime.run import Run
from detent.runtime.stopping import Stopping
from detent.runtime.ways import Atlas
from detent.store import ClaimRequest, JobQuery, Reply
from detent.store.waiting import in_thread, is_blocking
from detent.testing.trial.attempt import Attempt
from detent.testing.trial.attending import Attendant
from detent.testing.trial.loops import Loops, anywhere
from detent.testing.trial.mishaps import Mishap, Mishaps
from detent.testing.trial.played import Played
from detent.testing.trial.settling import Settling

CRASH: Final = Fault(("WorkerDied",), "the test wanted the worker to die")


class Inline:
    """Works for one tenant, under one name, until it `is_dead`."""

    def __init__(
        self,
        client: Client,
        name: str,
        *,
        handlers: Callable[[], Mapping[str, Handler]],
        clock: Callable[[], int],
        mishaps: Mishaps,
        loops: Loops,
        observer: Observer,
        resolver: Callable[[str], Any],
    ) -> None:
        self._client = client
        self._handlers = handlers
        self._clock = clock
        self._mishaps = mishaps
        self._loops = loops
        self._observer = observer
        self._resolver = resolver
        self._stopping = Stopping(observer)
        self._attendant = Attendant(SyncClient(client), name, observer, self._stopping)
        self._atlas = Atlas(client)
        self._settling = Settling(client, name, observer)
        self._caller = Caller(client.codec, self._context_of)
        self.live: list[Attempt] = []
        self.name = name
        self.is_dead = False

    @property
    def client(self) -> Client:
        return self._client

    async def step(self, queues: tuple[str, ...] | None) -> Played | None:
        """One attempt at the first job that is due; None: nothing is, that this worker could run."""
        handlers = self._handlers()
        jobs = await self._claimed(tuple(handlers), queues)
        if not jobs:
            return None
        (job,) = jobs
        await self._atlas.learn(jobs)
        run = Attempt(job, handlers[job.spec.kind], self._atlas[job], self._clock())
        if job.phase == "held":
            raise _not_startable(job)
        self.live.append(run)
        try:
            return Played(job.id, job.spec.kind, job.attempt, await self._attempted(run))
        finally:
            self.live.remove(run)

    def next_at(self) -> int | None:
        return self._attendant.next_at(self.live)

    def attend(self) -> None:
        """Do for the handlers that run now what the passing of time demands. From any thread."""
        anywhere(self._attended())

    async def _attended(self) -> None:
        if self.live:
            self._attendant.attend(list(self.live), self._clock())

    # -- taking

    async def _claimed(self, kinds: tuple[str, ...], queues: tuple[str, ...] | None) -> list[kernel.Job]:
        served = queues or await self._queues()
        if not kinds or not served:
            return []
        command = Claim(worker=self.name, start=True)
        replies = await self._client.store.claim(ClaimRequest(self._client.tenant, command, served, kinds, None, 1))
        jobs = [reply.job for reply in replies if isinstance(reply, Reply)]
        self._observer.claimed(jobs)
        return jobs

    async def _queues(self) -> tuple[str, ...]:
        """Every one in which a job waits, whatever it is called."""
        waiting = JobQuery(tenant=self._client.tenant, phase="ready")
        counts = await self._client.store.count(waiting, ("queue",))
        return tuple(sorted(queue for (queue,) in counts if queue is not None))

    # -- running

    async def _attempted(self, run: Attempt) -> str:
        mishap = self._mishaps.take(run.handler.kind)
        if mishap is not None and mishap.way == "cancel":
            await self._client.cancel(run.job.id, mode=mishap.mode, actor="test", reason="the test wanted it")
        value, fault = await self._carried_out(run, mishap)
        if fault is CRASH:
            self.is_dead = True
            return "crashed"
        anywhere(self._attended())
        _reckon(run, self._clock())
        if run.is_killed and run.stop is not None and not (fault is not None and fault.is_stop):
            came_to = await self._settling.ended(run, None, fault_of(run.stop.error()))
            await self._settling.told_late(run, value, fault)
            return came_to
        return await self._settling.ended(run, value, fault)

    async def _carried_out(self, run: Attempt, mishap: Mishap | None) -> tuple[Any, Fault | None]:
        if mishap is not None and not mishap.after and mishap.way != "cancel":
            return None, _fault(mishap)
        value, fault = await self._called(run)
        if mishap is not None and mishap.after and fault is None:
            return None, _fault(mishap)
        return value, fault

    async def _called(self, run: Attempt) -> tuple[Any, Fault | None]:
        variables = copy_context()
        try:
            return await self._value(run, variables), None
        except Unfit as unfit:
            return None, fault_of(unfit.__cause__ or unfit, stage="input")
        except (Exception, SystemExit) as error:
            return None, fault_of(error)
        except asyncio.CancelledError as error:
            task = None if is_blocking() else asyncio.current_task()
            if task is not None and task.cancelling():
                raise  # it is the test that is cancelled
            return None, fault_of(error)

    async def _value(self, run: Attempt, variables: Variables) -> Any:
        """Blocking handlers run where the test runs; beside an event loop, on a thread. Coroutines run on a loop."""
        if is_blocking() or run.handler.isolation == "async":
            value = variables.run(self._caller.call, run)
        else:
            value = await in_thread(lambda: variables.run(self._caller.call, run))
        return await self._loops.awaited(value, variables) if inspect.isawaitable(value) else value

    def _context_of(self, run: Run) -> Context:
        return Context(_Hand(run, self._client, self.name, self._stopping, self._resolver, attend=self.attend))


class _Hand(OwnHand):
    """A worker's, but that the store is looked at whenever the handler asks whether it has to stop."""

    __slots__ = ("_attend",)

    def __init__(self, *given: Any, attend: Callable[[], None]) -> None:
        super().__init__(*given)
        self._attend = attend

    def stopped(self) -> Stopped | None:
        self._attend()
        return super().stopped()


def _fault(mishap: Mishap) -> Fault:
    if mishap.way == "crash":
        return CRASH
    assert mishap.error is not None, "an attempt that fails has an error"
    return fault_of(mishap.error)


def _reckon(run: Attempt, now: int) -> None:
    """How long it took is told by the host's clock. Here it took as long as the test let pass."""
    run.began_s = monotonic() - (now - run.began_at) / SECOND


def _not_startable(job: kernel.Job) -> InvalidArgument:
    message = f"lifecycle '{job.spec.lifecycle}' does not let an owner start its jobs, so a worker cannot run them"
    return InvalidArgument(f"{message}; give start to 'owner', or drain other kinds")
