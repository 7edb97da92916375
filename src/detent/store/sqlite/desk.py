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

from detent.errors import InvalidArgument
from detent.store.sqlite.session import Session
from detent.store.waiting import is_blocking

Result = TypeVar("Result")
Work = Callable[[Session], Any]
Outcome = tuple[Any, BaseException | None]
TASKS_MAX: Final = 256  # in one transaction
SIZE_MAX: Final = 2_000  # requests in one, unless a single task has more: others wait for it to end


class Task(Struct, frozen=True):
    work: Work
    size: int
    future: "asyncio.Future[Any]"
    loop: asyncio.AbstractEventLoop


class Desk:
    """`carry_out` does a group of work and returns, for each, its result or its error. It does not raise.

    `_busy` is held by whoever uses the connection, the thread or a blocking caller; `_door` by whoever hands in a task
    or closes. After `close` nobody is at work, and nobody will be.
    """

    def __init__(self, name: str, carry_out: Callable[[list[Work]], list[Outcome]]) -> None:
        self._carry_out = carry_out
        self._busy = threading.Lock()
        self._door = threading.Lock()
        self._is_closed = False
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[Session], Result], size: int = 1) -> Result:
        if is_blocking():
            return self._do_here(work)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        with self._door:
            self._check_open()
            self._tasks.put(Task(work, size, future, loop))
        return await future

    def close(self) -> None:
        """Finish what was handed in, then end the thread."""
        with self._door:
            if not self._is_closed:
                self._is_closed = True
                self._tasks.put(None)
        self._thread.join()
        with self._busy:  # a blocking caller may still be at work
            return

    def _do_here(self, work: Callable[[Session], Result]) -> Result:
        with self._busy:
            self._check_open()
            ((result, error),) = self._carry_out([work])
        if error is not None:
            raise error
        return cast("Result", result)

    def _check_open(self) -> None:
        if self._is_closed:
            raise not_open()

    def _run(self) -> None:
        while tasks := self._group():
            with self._busy:
                outcomes = self._carry_out([task.work for task in tasks])
            _deliver(tasks, outcomes)

    def _group(self) -> list[Task]:
        """All that is waiting, within bounds; nothing at the end, which is put back if others come before it."""
        tasks: list[Task] = []
        size = 0
        while not tasks or (len(tasks) < TASKS_MAX and size < SIZE_MAX and not self._tasks.empty()):
            task = self._tasks.get()
            if task is None:
                if tasks:
                    self._tasks.put(None)
                return tasks
            tasks.append(task)
            size += task.size
        return tasks


def not_open() -> InvalidArgument:
    return InvalidArgument("this client is not open; use it inside its `with` block", code="not_connected")


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
