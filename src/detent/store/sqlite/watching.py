"""Whether anybody has written to the file: by the size and the time of SQLite's log file, which is not opened for it.

A look takes two microseconds; reading the file would take a hundred, on another thread. On Linux nobody has to look
again and again: the system tells of a write. A look may miss something, where a file system keeps coarse times and two
commits look alike. Whoever waits for work asks for it now and then.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

from detent.store.sqlite.noticing import Notices, notices_of
from detent.store.waiting import is_blocking, now_s, pause

LOOK_S: Final = 0.02  # between two looks, where the system does not tell
CALM_S: Final = 1.0  # and where it does


class Watch:
    """A mark stands for the file as it is; after a commit it is another one."""

    def __init__(self, path: str) -> None:
        self._log = Path(f"{path}-wal")
        self._is_used = False
        self._held: str | None = None  # what everybody sees while this process writes
        self._settled = "", ""  # a mark, and an earlier one that means the same
        self._notices: Notices | None = None
        self._waiting: set[_Waiting] = set()
        self._listening: asyncio.AbstractEventLoop | None = None

    def mark(self) -> str:
        held, (now, then) = self._held, self._settled
        if held is not None:
            return held
        mark = self._look()
        return then if mark == now else mark

    def begin(self) -> None:
        """This process has its turn, and writes."""
        if self._is_used:
            self._held = self.mark()

    def end(self, *, has_news: bool) -> None:
        """It has written. What is no news to anybody does not change the mark."""
        held = self._held
        if held is not None and not has_news:
            self._settled = self._look(), held
        self._held = None
        if held is not None and has_news:
            for waiting in tuple(self._waiting):
                waiting.look_soon()

    async def changed(self, mark: str, timeout_s: float) -> None:
        """Until the mark is another one, or the time is over."""
        if not self._is_used:
            self._is_used, self._notices = True, notices_of(str(self._log))
        deadline_s = now_s() + timeout_s

        def is_over() -> bool:
            return self.mark() != mark or now_s() >= deadline_s

        if is_blocking():
            while not is_over():
                pause(min(LOOK_S, timeout_s))
        else:
            await self._wait(_Waiting(is_over, LOOK_S if self._notices is None else min(CALM_S, timeout_s)))

    def close(self) -> None:
        notices, self._notices, self._is_used = self._notices, None, False
        if notices is not None:
            notices.close()

    async def _wait(self, waiting: "_Waiting") -> None:
        self._waiting.add(waiting)
        self._listen(waiting.loop)
        try:
            waiting.look()
            await waiting.over
        finally:
            self._waiting.discard(waiting)
            self._listen_no_more(waiting.loop)

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """One loop does it for all; who waits on another hears of it from there."""
        if self._notices is not None and self._listening is None:
            loop.add_reader(self._notices.fd, self._noticed)
            self._listening = loop

    def _listen_no_more(self, loop: asyncio.AbstractEventLoop) -> None:
        if (
            self._notices is not None
            and self._listening is loop
            and all(each.loop is not loop for each in self._waiting)
        ):
            loop.remove_reader(self._notices.fd)
            self._listening = None

    def _noticed(self) -> None:
        if self._notices is not None:
            self._notices.forget()
        for waiting in tuple(self._waiting):
            waiting.look_soon()

    def _look(self) -> str:
        try:
            seen = self._log.stat()
        except FileNotFoundError:
            return ""
        return f"{seen.st_mtime_ns}-{seen.st_size}-{seen.st_ino}"


class _Waiting:
    """Somebody on an event loop, until it is over. A task that sleeps would take three times as long for each look."""

    def __init__(self, is_over: Callable[[], bool], rest_s: float) -> None:
        self._is_over = is_over
        self._rest_s = rest_s
        self._timer: asyncio.TimerHandle | None = None
        self.loop = asyncio.get_running_loop()
        self.over: asyncio.Future[None] = self.loop.create_future()

    def look(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self.over.done():
            return  # nobody waits any more
        if self._is_over():
            self.over.set_result(None)
        else:
            self._timer = self.loop.call_later(self._rest_s, self.look)

    def look_soon(self) -> None:
        """From any thread."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.look)
