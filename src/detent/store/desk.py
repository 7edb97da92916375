"""Threads that do one kind of work, each on one connection, task by task, for callers on event loops.

A database blocks; an event loop must not. Callers hand in tasks and wait; a thread takes all that are waiting at once,
so that tasks which came while it was busy share the next transaction, and its price. A blocking caller needs no
thread: its task is done where it stands.
"""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, NamedTuple, TypeVar

from msgspec import Struct

from detent.errors import InvalidArgument
from detent.store.waiting import is_blocking, pause

Work = TypeVar("Work")
Outcome = tuple[Any, BaseException | None]
TASKS_MAX: Final = 256  # in one transaction
SIZE_MAX: Final = 2_000  # requests in one, unless a single task has more: others wait for it to end
SHARED_MIN: Final = 16  # so many are not worth dividing


class Again(NamedTuple):
    """Instead of a result: it cannot be done yet, and is to be tried again after so long. Others go on meanwhile."""

    after_s: float


class Task(Struct, frozen=True):
    work: Any
    size: int
    future: "asyncio.Future[Any]"
    loop: asyncio.AbstractEventLoop


class Desk(Generic[Work]):
    """Each of `clerks` does a group of work and returns, for each, its result or its error. It does not raise. What is
    to be done `afterwards` keeps nobody waiting for an answer.

    A clerk's lock is held by whoever uses its connection, its thread or a blocking caller; `_door` by whoever hands in
    a task or closes. After `close` nobody is at work, and nobody will be.
    """

    def __init__(
        self,
        name: str,
        *clerks: Callable[[list[Work]], list[Outcome]],
        size_max: int = SIZE_MAX,
        afterwards: Callable[[], object] = lambda: None,
    ) -> None:
        self._clerks = [(carry_out, threading.Lock()) for carry_out in clerks]
        self._door = threading.Lock()
        self._is_closed = False
        self._size_max = size_max
        self._afterwards = afterwards
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._last = 0  # how many tasks the last group had
        self._threads = [
            threading.Thread(target=self._run, args=clerk, name=name, daemon=True) for clerk in self._clerks
        ]
        for thread in self._threads:
            thread.start()

    async def do(self, work: Work, size: int = 1) -> Any:
        if is_blocking():
            return self.do_here(work)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        with self._door:
            self._check_open()
            self._tasks.put(Task(work, size, future, loop))
        return await future

    def close(self) -> None:
        """Finish what was handed in, then end the threads."""
        with self._door:
            if not self._is_closed:
                self._is_closed = True
                for _ in self._threads:
                    self._tasks.put(None)
        for thread in self._threads:
            thread.join()
        for _, busy in self._clerks:
            busy.acquire()  # a blocking caller may still be at work
            busy.release()

    def do_here(self, work: Work) -> Any:
        """On the caller's own thread, which may be blocked."""
        while True:
            carry_out, busy = self._free_clerk()
            try:
                self._check_open()
                ((result, error),) = carry_out([work])
            finally:
                busy.release()
            self._afterwards()
            if error is not None:
                raise error
            if not isinstance(result, Again):
                return result
            pause(result.after_s)

    def _free_clerk(self) -> tuple[Callable[[list[Work]], list[Outcome]], threading.Lock]:
        """One that has nothing to do, now held by the caller; if all are at work, the first to be waited for."""
        for clerk in self._clerks:
            if clerk[1].acquire(blocking=False):
                return clerk
        clerk = self._clerks[threading.get_ident() % len(self._clerks)]
        clerk[1].acquire()
        return clerk

    def _check_open(self) -> None:
        if self._is_closed:
            raise not_open()

    def _run(self, carry_out: Callable[[list[Work]], list[Outcome]], busy: threading.Lock) -> None:
        while tasks := self._group():
            with busy:
                outcomes = carry_out([task.work for task in tasks])
            self._deliver(tasks, outcomes)
            self._afterwards()

    def _group(self) -> list[Task]:
        """What is waiting, within bounds; nothing at the end, which is put back if others come before it."""
        tasks: list[Task] = []
        size, tasks_max = 0, 1
        while len(tasks) < tasks_max and size < self._size_max:
            try:
                task = self._tasks.get(block=not tasks)  # with some in hand nobody waits for more
            except Empty:
                break
            if task is None:
                if tasks:
                    self._tasks.put(None)
                break
            tasks_max = tasks_max if tasks else self._share()
            tasks.append(task)
            size += task.size
        self._last = len(tasks)
        return tasks

    def _share(self) -> int:
        """How many to take, with one in hand. If it were all, all would be answered together and ask again together,
        and the database would have nothing to do meanwhile. So a crowd is taken by halves.
        """
        crowd = 1 + self._tasks.qsize() + self._last
        return min(max((crowd + 1) // 2, SHARED_MIN), TASKS_MAX)

    def _deliver(self, tasks: Sequence[Task], outcomes: Sequence[Outcome]) -> None:
        """Wake each event loop once, however many of its callers are answered."""
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Task, Outcome]]] = defaultdict(list)
        for task, outcome in zip(tasks, outcomes, strict=True):
            by_loop[task.loop].append((task, outcome))
        for loop, answers in by_loop.items():
            try:
                loop.call_soon_threadsafe(self._settle, answers)
            except RuntimeError:
                if not loop.is_closed():  # else its callers are gone; what was asked is done all the same
                    raise

    def _settle(self, answers: list[tuple[Task, Outcome]]) -> None:
        for task, (result, error) in answers:
            if task.future.done():
                continue  # the caller was cancelled meanwhile
            if error is not None:
                task.future.set_exception(error)
            elif isinstance(result, Again):
                task.loop.call_later(result.after_s, self._hand_in_again, task)
            else:
                task.future.set_result(result)

    def _hand_in_again(self, task: Task) -> None:
        with self._door:
            if not self._is_closed:
                self._tasks.put(task)
            elif not task.future.done():
                task.future.set_exception(not_open())


def not_open() -> InvalidArgument:
    return InvalidArgument("this client is not open; use it inside its `with` block", code="not_connected")
