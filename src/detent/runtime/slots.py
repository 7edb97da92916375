"""The lane of async handlers: long-lived coroutines, each of which runs one handler after the other.

A task for each job would cost more than a short job does. So a slot drives handler after handler in its own task; only
when one suspends itself does the next slot wake up. Each handler has a context of its own for its context variables.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine, Generator, Iterable
from contextvars import Context as Variables
from contextvars import copy_context
from time import monotonic
from typing import Any, Final

from detent.runtime.calling import Caller, Unfit
from detent.runtime.faults import Fault, fault_of
from detent.runtime.lane import Ended
from detent.runtime.run import Run
from detent.runtime.stopping import Stop

TURN_S: Final = 0.002  # of handlers in a row, before others on the loop have their turn
ABANDON_S: Final = 1.0  # how long a handler that was cancelled may go on; then it is waited for no longer


class Slots:
    def __init__(self, size: int, caller: Caller, ended: Ended) -> None:
        self._size = size
        self._caller = caller
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Run] = deque()
        self._idle: list[asyncio.Future[None]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._busy = 0
        self._stuck = 0
        self.current: Run | None = None  # whose handler has the loop now
        self._last: Run | None = None  # whose had it before, until then
        self._left_s = 0.0

    @property
    def room(self) -> int:
        return self._size - self._busy

    async def open(self) -> None:
        """Slots are made when they are first needed."""

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=ABANDON_S)

    def begin(self, runs: Iterable[Run]) -> None:
        before = len(self._waiting)
        self._waiting.extend(runs)
        self._busy += len(self._waiting) - before
        self._wake()

    def withdraw(self) -> list[Run]:
        runs = list(self._waiting)
        self._waiting.clear()
        self._busy -= len(runs)
        return runs

    def tell(self, run: Run, stop: Stop) -> None:
        """It has `run.stop` before its eyes."""

    def kill(self, run: Run) -> None:
        self._loop.call_soon_threadsafe(self._cancel, run)

    def at_work(self, since_s: float) -> str:
        run = self.current
        if run is None and self._left_s >= since_s:
            run = self._last
        return "" if run is None else f"{run.handler.kind} (job {run.job.spec.id})"

    def _wake(self) -> None:
        """One more slot, if anything waits for one."""
        if not self._waiting:
            return
        if self._idle:
            self._idle.pop().set_result(None)
        elif len(self._tasks) < self._size + self._stuck:
            task = self._loop.create_task(self._slot(), name="detent-slot")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _slot(self) -> None:
        while True:
            until_s = monotonic() + TURN_S
            while self._waiting and monotonic() < until_s:
                suspended = self._begun(self._waiting.popleft())
                if suspended is not None:
                    await suspended
            if self._waiting:
                await asyncio.sleep(0)
                continue
            idle = self._loop.create_future()
            self._idle.append(idle)
            await idle

    def _begun(self, run: Run) -> "_Driven | None":
        """Call its handler; what comes back is driven to its end by the slot, if it is not at its end already."""
        variables = copy_context()
        self.current = run
        run.began_s = monotonic()  # what was taken together begins one after the other
        try:
            coroutine = variables.run(self._caller.call, run)
        except Unfit as unfit:
            self.over(run, None, fault_of(unfit.__cause__ or unfit, stage="input"))
            return None
        except BaseException as error:  # whatever it raises is the handler's, and the slot lives on
            self.over(run, None, fault_of(error))
            return None
        if not isinstance(coroutine, Coroutine):
            coroutine = _awaited(coroutine)
        return self._suspended_in(run, coroutine, variables)

    def _suspended_in(self, run: Run, coroutine: Coroutine[Any, Any, Any], variables: Variables) -> "_Driven | None":
        """After its first step. Many a handler has no other, and no more is made for it than that takes."""
        try:
            waits_for = variables.run(coroutine.send, None)
        except StopIteration as done:
            self.over(run, done.value, None)
        except BaseException as error:
            self.over(run, None, fault_of(error))
        else:
            return _Driven(self, run, coroutine, variables, waits_for)
        return None

    def _cancel(self, run: Run) -> None:
        if not run.is_over and run.carrier is not None:
            run.carrier.cancel()
            self._loop.call_later(ABANDON_S, self._abandon, run)

    def _abandon(self, run: Run) -> None:
        """It was cancelled and goes on. Its slot stays taken; another may be made in its place."""
        if not run.is_over and run.stop is not None:
            self._stuck += 1
            self._busy -= 1
            run.carrier = None
            self._ended(run, None, fault_of(run.stop.error()))

    def over(self, run: Run, value: Any, fault: Fault | None) -> None:
        self._leave(run)
        if run.is_over:
            self._stuck -= 1
        else:
            self._busy -= 1
        self._ended(run, value, fault)

    def suspended(self, run: Run) -> None:
        self._leave(run)
        self._wake()

    def _leave(self, run: Run) -> None:
        self.current, self._last, self._left_s = None, run, monotonic()


class _Driven:
    """A handler that has suspended itself, step by step, so that it is known when it has the loop and when not."""

    __slots__ = ("_coroutine", "_run", "_slots", "_variables", "_waits_for")

    def __init__(
        self, slots: Slots, run: Run, coroutine: Coroutine[Any, Any, Any], variables: Variables, waits_for: Any
    ) -> None:
        self._slots = slots
        self._run = run
        self._coroutine = coroutine
        self._variables = variables
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, None]:
        slots, run, coroutine, waits_for = self._slots, self._run, self._coroutine, self._waits_for
        while True:
            if run.carrier is None and not run.is_over:
                run.carrier = asyncio.current_task()
            slots.suspended(run)
            step: Any = coroutine.send
            given: Any = None
            try:
                given = yield waits_for
            except BaseException as thrown:
                step, given = coroutine.throw, thrown
            slots.current = run
            try:
                waits_for = self._variables.run(step, given)
            except StopIteration as done:
                slots.over(run, done.value, None)
                return
            except BaseException as error:
                slots.over(run, None, fault_of(error))
                self._calm(error)
                return

    def _calm(self, error: BaseException) -> None:
        """A cancellation that was meant for the handler ends with it; one of the slot itself goes on."""
        if not isinstance(error, asyncio.CancelledError | GeneratorExit):
            return
        task = asyncio.current_task()
        if isinstance(error, GeneratorExit) or self._run.stop is None or task is None:
            raise error
        task.uncancel()


async def _awaited(value: Any) -> Any:
    """A function that is no coroutine function may return something to wait for, or the result itself."""
    return await value if hasattr(value, "__await__") else value
