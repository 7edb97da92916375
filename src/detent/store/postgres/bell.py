"""Wake-ups. Who has written rings, soon after and not too often; who waits is woken by it, or by its own patience.

A notification inside a transaction makes all commits of the database queue for one lock. So it is a statement of its
own, after the commit, sent by a thread of its own and shared by everything that was written meanwhile. Its commit need
not reach the disk. Nothing depends on it: it may be lost, or never be heard, as behind a pooler; whoever waits looks by
itself from time to time.

A ring says whether there may be something to claim. Most of what workers write makes none: they would wake each other
for nothing.
"""

import asyncio
import select
import threading
from collections.abc import Callable
from typing import Any, Final

import psycopg

from detent.store.postgres.address import Address
from detent.store.waiting import is_blocking

CHANNEL: Final = "detent"
MOVED: Final = b"moved"  # what a ring says that is not about work; whatever else it says, it may be
RING: Final = f"select set_config('synchronous_commit', 'off', true), pg_notify('{CHANNEL}', '')"
RING_MOVED: Final = RING.replace("''", f"'{MOVED.decode()}'")
RING_S: Final = 0.05  # between two rings of one client that writes all the time
RING_MIN_S: Final = 0.002  # and of one that writes now and then
HEARD_MS: Final = 200  # between looks at whether it is still wanted
RETRY_S: Final = 1.0


class _Thread:
    """One that begins when it is first wanted, by whichever thread that is."""

    def __init__(self, work: Callable[[], None], name: str) -> None:
        self._door = threading.Lock()
        self._thread = threading.Thread(target=work, name=name, daemon=True)
        self._has_begun = False

    def begin(self) -> None:
        if not self._has_begun:
            with self._door:
                self._has_begun = self._has_begun or self._start()

    def _start(self) -> bool:
        """Not, if the system has no thread to give: nothing depends on it, and it is tried again."""
        try:
            self._thread.start()
        except RuntimeError:
            return False
        return True

    def end(self) -> None:
        with self._door:
            is_there, self._has_begun = self._has_begun, True  # who comes now is too late
        if is_there:
            self._thread.join()


class Ringer:
    """`ring` sends one notification, about work or not; it is called on a thread that waits for nothing else."""

    def __init__(self, ring: Callable[[bool], object]) -> None:
        self._ring = ring
        self._door = threading.Lock()
        self._is_due = False
        self._is_work = False
        self._wanted = threading.Event()
        self._closed = threading.Event()
        self._thread = _Thread(self._run, "detent-ringer")

    def written(self, is_work: bool = True) -> None:
        """Something was committed: the thread begins with the first of it."""
        with self._door:
            self._is_due = True
            self._is_work = self._is_work or is_work
        if not self._wanted.is_set():
            self._thread.begin()
            self._wanted.set()

    def close(self) -> None:
        """After the last ring, if one is due: a program may write and be gone."""
        self._closed.set()
        self._wanted.set()
        self._thread.end()

    def _run(self) -> None:
        rest_s = RING_MIN_S
        while not self._closed.is_set():
            self._wanted.wait()
            self._wanted.clear()
            self._ring_if_due()
            self._closed.wait(rest_s)
            # Who writes again meanwhile writes often: others are to hear of it, and not to be woken all the time.
            rest_s = min(2 * rest_s, RING_S) if self._is_due else RING_MIN_S
        self._ring_if_due()

    def _ring_if_due(self) -> None:
        with self._door:
            is_due, is_work = self._is_due, self._is_work
            self._is_due = self._is_work = False
        if is_due:
            self._ring(is_work)


class Rings:
    """How many were heard so far, and who waits for the next."""

    def __init__(self) -> None:
        self.count = 0
        self._changed = threading.Condition()
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    async def wait(self, count: int, timeout_s: float) -> None:
        """Until there was another one than these, or the time is over."""
        if is_blocking():
            with self._changed:
                self._changed.wait_for(lambda: self.count != count, timeout_s)
            return
        woken = asyncio.Event()
        waiting = asyncio.get_running_loop(), woken
        with self._changed:
            if self.count != count:
                return
            self._waiting.add(waiting)
        try:
            async with asyncio.timeout(timeout_s):  # `wait_for` of Python 3.11 would not notice a cancel beside a ring
                await woken.wait()
        except TimeoutError:
            return  # it looks by itself
        finally:
            with self._changed:
                self._waiting.discard(waiting)

    def heard(self) -> None:
        with self._changed:
            self.count += 1
            self._changed.notify_all()
            waiting = tuple(self._waiting)
        for loop, woken in waiting:
            try:
                loop.call_soon_threadsafe(woken.set)
            except RuntimeError:
                if not loop.is_closed():
                    raise


class Listener:
    """Hears rings on a connection of its own, as long as somebody waits now and then."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._all = Rings()
        self._of_work = Rings()
        self._closed = threading.Event()
        self._thread = _Thread(self._run, "detent-listener")

    @property
    def rings(self) -> Rings:
        """To be counted before looking at what they are about."""
        self._thread.begin()
        return self._all

    @property
    def rings_of_work(self) -> Rings:
        """Only those after which there may be something to claim."""
        self._thread.begin()
        return self._of_work

    def close(self) -> None:
        self._closed.set()
        self._thread.end()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._listen()
            except (psycopg.Error, OSError):
                self._closed.wait(RETRY_S)  # whoever waits looks by itself meanwhile

    def _listen(self) -> None:
        settings = self._address.keywords(is_writing=False)
        with psycopg.Connection[Any].connect(**settings, autocommit=True) as connection:
            connection.execute(f"listen {CHANNEL}")
            self._heard(b"")  # what was missed until now
            wire, poll = connection.pgconn, select.poll()
            poll.register(wire.socket, select.POLLIN)
            while not self._closed.is_set():
                if poll.poll(HEARD_MS):
                    wire.consume_input()
                while (ring := wire.notifies()) is not None:
                    self._heard(ring.extra)

    def _heard(self, said: bytes) -> None:
        self._all.heard()
        if said != MOVED:
            self._of_work.heard()
