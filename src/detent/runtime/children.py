"""The lane of handlers that have a process to themselves: for work that keeps the interpreter, and for hard stops.

Children are started before there is work for them, serve one job after the other, and are replaced when they end. One
that ends with a job in its hands has crashed, and is reported at once.
"""

import asyncio
import pickle
from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.structs import replace

from detent.client import Codec, Job
from detent.errors import Cancelled, DetentError, LeaseLost, Stopped
from detent.kernel.failure import CRASHED
from detent.kernel.job import NULL
from detent.runtime import tracing
from detent.runtime.addresses import portable
from detent.runtime.backing_off import Backoff
from detent.runtime.calling import Caller, Unfit
from detent.runtime.child import Child
from detent.runtime.faults import Fault, fault_of
from detent.runtime.hand import OwnHand
from detent.runtime.lane import Ended
from detent.runtime.messages import Answer, Done, Question, Ready, Said, Task, Told
from detent.runtime.observing import Observer
from detent.runtime.run import Run
from detent.runtime.stopping import Stop
from detent.store.waiting import in_thread

_PLAIN: Final = Codec()


class Children:
    def __init__(
        self,
        size: int,
        caller: Caller,
        ended: Ended,
        *,
        hand_of: Callable[[Run], OwnHand],
        codec: Codec,
        worker: str,
        luggage: dict[str, Any],
        freed: Callable[[], None],
        observer: Observer,
    ) -> None:
        self._size = size
        self._caller = caller
        self._ended = ended
        self._hand_of = hand_of
        self._codec = codec
        self._worker = worker
        self._luggage = pickle.dumps(_portable(luggage))
        self._freed = freed
        self._observer = observer
        self._loop = asyncio.get_running_loop()
        self._children: set[Child] = set()
        self._asking: set[asyncio.Task[None]] = set()
        self._patience = Backoff()
        self._is_closed = False

    @property
    def room(self) -> int:
        return sum(child.is_ready and child.run is None for child in self._children)

    async def open(self) -> None:
        for _ in range(self._size):
            self._spawn()

    async def close(self) -> None:
        self._is_closed = True
        children, self._children = self._children, set()
        await asyncio.gather(*[in_thread(child.close) for child in children])

    def begin(self, runs: Iterable[Run]) -> None:
        for run in runs:
            child = next(child for child in self._children if child.is_ready and child.run is None)
            child.run = run
            run.carrier = child
            try:
                tracing.begin(run)
                child.say(self._task(run))
            except Unfit as unfit:
                self._over(child, None, fault_of(unfit.__cause__ or unfit, stage="input"))
            except Exception as error:  # arguments that cannot be sent; pickle raises whatever it likes
                self._over(child, None, fault_of(error, stage="input"))

    def withdraw(self) -> list[Run]:
        """None: a child has each of them at once."""
        return []

    def tell(self, run: Run, stop: Stop) -> None:
        error = stop.error()
        kind = next(each for each in (LeaseLost, Cancelled, Stopped) if isinstance(error, each))
        child: Child | None = run.carrier
        if child is not None:
            child.say(Told(kind.__name__, stop.message))

    def kill(self, run: Run) -> None:
        child: Child | None = run.carrier
        if child is not None and child.run is run:
            child.kill()

    def at_work(self, since_s: float) -> str:
        """None of them can keep the worker's own interpreter."""
        return ""

    def _task(self, run: Run) -> Task:
        handler, job = run.handler, Job(run.job, self._codec)
        assert handler.address is not None, "the worker refuses such a handler without an address"
        spec = replace(run.job.spec, payload=_PLAIN.encode(job.payload))
        checkpoint = None if run.job.checkpoint is None else _PLAIN.encode(job.checkpoint)
        record = replace(run.job, spec=spec, checkpoint=checkpoint)
        given = self._caller.arguments(run)
        return Task(portable(handler.address), handler.wants_context, given, record, self._worker, tracing.carried(run))

    def _spawn(self) -> None:
        if self._is_closed or len(self._children) >= self._size:
            return
        try:
            self._children.add(Child(self._heard, self._luggage))
        except OSError as error:
            self._observer.troubled("start of a child process", error)
            self._loop.call_later(self._patience.next_s(), self._spawn)

    def _heard(self, child: Child, message: Any) -> None:
        """On the child's thread."""
        try:
            self._loop.call_soon_threadsafe(self._heed, child, message)
        except RuntimeError:
            if not self._loop.is_closed():
                raise

    def _heed(self, child: Child, message: Any) -> None:
        match message:
            case Ready():
                child.is_ready = True
                self._patience.succeeded()
                self._freed()
            case Done():
                self._over(child, message.value, message.fault)
            case Said() if child.run is not None:
                self._said(child.run, message)
            case Question() if child.run is not None:
                task = self._loop.create_task(self._answer(child, child.run, message))
                self._asking.add(task)
                task.add_done_callback(self._asking.discard)
            case None:
                self._gone(child)

    def _said(self, run: Run, said: Said) -> None:
        if said.progress is not None:
            run.progress = said.progress
        if said.checkpoint is not None:
            run.checkpoint = self._codec.encode(*said.checkpoint, "checkpoint")
        run.is_completing = run.is_completing or said.is_completing

    async def _answer(self, child: Child, run: Run, question: Question) -> None:
        hand = self._hand_of(run)
        try:
            if question.what == "flush":
                await hand.flush()
                child.say(Answer(question.number))
            elif question.artifact is not None:
                await hand.artifact(question.artifact)
                child.say(Answer(question.number))
            else:
                child.say(Answer(question.number, [self._plain(job) for job in await hand.children()]))
        except (DetentError, Stopped) as error:
            child.say(Answer(question.number, fault=fault_of(error)))

    def _plain(self, job: Job) -> Any:
        result = None if job.record.result is None else _PLAIN.encode(job.result)
        spec = replace(job.record.spec, payload=NULL)  # a parent knows what it gave them
        return replace(job.record, spec=spec, result=result, checkpoint=None)

    def _over(self, child: Child, value: Any, fault: Fault | None) -> None:
        run, child.run = child.run, None
        if run is not None:
            run.carrier = None
            self._ended(run, value, fault)

    def _gone(self, child: Child) -> None:
        """It ended: because it was killed, or with its handler, or by itself. Another takes its place."""
        self._children.discard(child)
        run = child.run
        if run is not None:
            stop = run.stop if run.is_killed else None
            message = f"the process of attempt {run.attempt} {child.how_it_ended()}"
            self._over(child, None, Fault((CRASHED,), message) if stop is None else fault_of(stop.error()))
        delay_s = 0.0 if child.is_ready else self._patience.next_s()
        self._loop.call_later(delay_s, self._spawn)


def _portable(luggage: dict[str, Any]) -> dict[str, Any]:
    """Without what cannot be sent: a child says so when it is asked for."""
    return {name: value for name, value in luggage.items() if _is_portable(value)}


def _is_portable(value: Any) -> bool:
    try:
        pickle.dumps(value)
    except Exception:  # pickle raises whatever it likes
        return False
    return True
