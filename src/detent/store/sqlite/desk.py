"""A thread that does one kind of work on one connection, task by task, for callers on event loops.

SQLite blocks; an event loop must not. Callers hand in tasks and wait; the thread takes all that are waiting at once,
so that tasks which came while it was busy share the next transaction, and its price. A blocking caller needs no
thread: its task is done where it stands.
"""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final, TypeVar, cast

from msgspec import Struct

from detent.store.sqlite.session import Session
from detent.store.waiting import is_blocking

Result = TypeVar("Result")
Work = Callable[[Session], Any]
Outcome = tuple[Any, BaseException | None]
GROUP_MAX: Final = 256


class Task(Struct, frozen=True):
    work: Work
    future: "asyncio.Future[Any]"
    loop: asyncio.AbstractEventLoop


class Desk:
    """`carry_out` does a group of work and returns, for each, its result or its error. It does not raise."""

    def __init__(self, name: str, carry_out: Callable[[list[Work]], list[Outcome]]) -> None:
        self._carry_out = carry_out
        self._busy = threading.Lock()
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[Session], Result]) -> Result:
        if is_blocking():
            ((result, error),) = self._carry_out_here([work])
            if error is not None:
                raise error
            return cast("Result", result)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._tasks.put(Task(work, future, loop))
        return await future

    def close(self) -> None:
        """Finish what was handed in, then end the thread."""
        self._tasks.put(None)
        self._thread.join()

    def _run(self) -> None:
        is_open = True
        while is_open:
            group = [self._tasks.get()]
            while len(group) < GROUP_MAX and not self._tasks.empty():
                group.append(self._tasks.get())
            is_open = None not in group
            tasks = [task for task in group if task is not None]
            if tasks:
                _deliver(tasks, self._carry_out_here([task.work for task in tasks]))

    def _carry_out_here(self, works: list[Work]) -> list[Outcome]:
        """On the thread that calls. The connection serves one at a time."""
        with self._busy:
            return self._carry_out(works)


def _deliver(tasks: list[Task], outcomes: list[Outcome]) -> None:
    """Wake each event loop once, however many of its callers are answered."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Task, Outcome]]] = defaultdict(list)
    for task, outcome in zip(tasks, outcomes, strict=True):
        by_loop[task.loop].append((task, outcome))
    for loop, answers in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, answers)
        except RuntimeError:
            if not loop.is_closed():  # else its callers are gone; what was asked is done all the same
                raise


def _settle(answers: list[tuple[Task, Outcome]]) -> None:
    for task, (result, error) in answers:
        if task.future.done():
            continue  # the caller was cancelled meanwhile
        if error is None:
            task.future.set_result(result)
        else:
            task.future.set_exception(error)
