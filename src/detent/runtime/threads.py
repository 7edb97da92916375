"""The lane of blocking handlers: threads of our own, made when they are needed.

A thread cannot be stopped from outside. One that is to be stopped the hard way is abandoned: nobody waits for it any
more, its place is taken by a new one, and the fence keeps whatever it says from having an effect.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Iterable
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any

from detent.runtime.calling import Caller, Unfit
from detent.runtime.faults import Fault, fault_of
from detent.runtime.lane import Ended
from detent.runtime.run import Run
from detent.runtime.stopping import Stop


class Threads:
    def __init__(self, size: int, caller: Caller, ended: Ended) -> None:
        self._size = size
        self._caller = caller
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[Run | None] = SimpleQueue()
        self._done: deque[tuple[Run, Any, Fault | None]] = deque()
        self._threads: list[threading.Thread] = []
        self._running: set[Run] = set()
        self._stuck = 0

    @property
    def room(self) -> int:
        return self._size - len(self._running)

    async def open(self) -> None:
        """Threads are made when they are first needed."""

    async def close(self) -> None:
        """Those that are abandoned are left to end by themselves, or with the process."""
        for _ in self._threads:
            self._queue.put(None)

    def begin(self, runs: Iterable[Run]) -> None:
        for run in runs:
            self._running.add(run)
            self._queue.put(run)
        while len(self._threads) < len(self._running) + self._stuck:
            thread = threading.Thread(target=self._serve, name=f"detent-handler-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def withdraw(self) -> list[Run]:
        """None: a thread has each of them at once."""
        return []

    def tell(self, run: Run, stop: Stop) -> None:
        """It has `run.stop` before its eyes."""

    def kill(self, run: Run) -> None:
        self._loop.call_soon_threadsafe(self._abandon, run)

    def at_work(self) -> str:
        return ", ".join(f"{run.handler.kind} (job {run.job.spec.id})" for run in tuple(self._running))

    def _abandon(self, run: Run) -> None:
        if run in self._running and run.stop is not None:
            self._running.discard(run)
            self._stuck += 1
            self._ended(run, None, fault_of(run.stop.error()))

    def _serve(self) -> None:
        while (run := self._queue.get()) is not None:
            value, fault = self._carried_out(run)
            self._done.append((run, value, fault))
            try:
                self._loop.call_soon_threadsafe(self._collect)
            except RuntimeError:
                if not self._loop.is_closed():
                    raise
                return  # abandoned, and the worker is gone: nobody is there to be told

    def _carried_out(self, run: Run) -> tuple[Any, Fault | None]:
        try:
            return copy_context().run(self._caller.call, run), None
        except Unfit as unfit:
            return None, fault_of(unfit.__cause__ or unfit, stage="input")
        except BaseException as error:  # SystemExit too: it is the handler's, and the thread lives on
            return None, fault_of(error)

    def _collect(self) -> None:
        while self._done:
            run, value, fault = self._done.popleft()
            if run in self._running:
                self._running.discard(run)
            else:
                self._stuck -= 1
            self._ended(run, value, fault)
