"""Whose turn it is to write. SQLite lets one writer in at a time, but in no order: one may wait for seconds.

Two locks make a turnstile. To write, take `next`, then wait for `turn`, then let go of `next`. So at most one waits
for the turn, and whoever has just written stands behind it. SQLite's own lock stays what keeps writers apart; the
gate only makes them take turns, and its locks are gone with the process that held them.
"""

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from detent.errors import StoreError

_USERS, _NEXT, _TURN = 0, 1, 2  # bytes of the lock file
_POLL_S: Final = 0.000_2
_POLL_S_MAX: Final = 0.001
SUFFIX: Final = "-gate"


class Gate:
    """The turnstile of one file in one process. Locks of this kind belong to the process, so it has one gate."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = os.open(path + SUFFIX, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._next = threading.Lock()
        self._turn = threading.Lock()
        self.users = 0

    @contextmanager
    def turn(self, wait_s: float) -> Iterator[None]:
        deadline = time.monotonic() + wait_s
        self._enter(self._next, _NEXT, deadline, wait_s)
        try:
            self._enter(self._turn, _TURN, deadline, wait_s)
        finally:
            self._leave(self._next, _NEXT)
        try:
            yield
        finally:
            self._leave(self._turn, _TURN)

    def is_alone(self) -> bool:
        """Whether no other process has the store open. Asked before `join`."""
        return self._try(_USERS, fcntl.LOCK_EX)

    def join(self) -> None:
        """From now on others see that this process has the store open."""
        fcntl.lockf(self._file, fcntl.LOCK_SH, 1, _USERS)

    def close(self) -> None:
        os.close(self._file)

    def _enter(self, lock: threading.Lock, byte: int, deadline: float, wait_s: float) -> None:
        if not lock.acquire(timeout=max(deadline - time.monotonic(), 0)):
            raise self._too_long(wait_s)
        try:
            self._poll(byte, deadline, wait_s)
        except BaseException:  # also Ctrl-C: who does not get in holds nobody up
            lock.release()
            raise

    def _poll(self, byte: int, deadline: float, wait_s: float) -> None:
        pause = _POLL_S
        while not self._try(byte, fcntl.LOCK_EX):
            if time.monotonic() >= deadline:
                raise self._too_long(wait_s)
            time.sleep(pause)
            pause = min(pause * 1.5, _POLL_S_MAX)

    def _leave(self, lock: threading.Lock, byte: int) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, byte)
        lock.release()

    def _try(self, byte: int, how: int) -> bool:
        try:
            fcntl.lockf(self._file, how | fcntl.LOCK_NB, 1, byte)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _too_long(self, wait_s: float) -> StoreError:
        message = (
            f"store {self.path}: another transaction kept the write lock for more than {wait_s:g} s; "
            "end it, or wait longer with busy_s. A call inside your own transaction needs tx="
        )
        return StoreError(message, code="store_locked")
