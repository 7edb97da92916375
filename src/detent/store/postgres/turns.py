"""Taking turns on a connection of a caller's. Its tasks or threads may use one at the same time; two verbs inside each
other's savepoints would undo one another.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

Lock = TypeVar("Lock")


class Turns(Generic[Lock]):
    """A lock for each connection, for as long as somebody uses or wants it."""

    def __init__(self, make: Callable[[], Lock]) -> None:
        self._make = make
        self._door = threading.Lock()
        self._locks: dict[int, tuple[Lock, int]] = {}  # by the connection's id, and how many have it

    @contextmanager
    def on(self, raw: object) -> Iterator[Lock]:
        with self._door:
            lock, users = self._locks.get(id(raw)) or (self._make(), 0)
            self._locks[id(raw)] = lock, users + 1
        try:
            yield lock
        finally:
            with self._door:
                _, users = self._locks.pop(id(raw))
                if users > 1:
                    self._locks[id(raw)] = lock, users - 1
