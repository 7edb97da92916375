"""Waiting longer each time something could not be done, and never in step with others."""

import asyncio
import threading
from typing import Final

from detent.store.clock import host_random

FIRST_S: Final = 0.05
MOST_S: Final = 5.0


class Backoff:
    def __init__(self, most_s: float = MOST_S) -> None:
        self._most_s = most_s
        self._times = 0

    def succeeded(self) -> None:
        self._times = 0

    def next_s(self) -> float:
        full = min(FIRST_S * (1 << self._times), self._most_s)
        self._times = min(self._times + 1, 20)
        return full * (0.5 + host_random() / 2)

    async def wait(self) -> None:
        await asyncio.sleep(self.next_s())

    def wait_for(self, closed: threading.Event) -> None:
        """On a thread; it ends early when that is closed."""
        closed.wait(self.next_s())


def jittered(seconds: float) -> float:
    """From half to one and a half of it, so that many workers do not all do the same at once."""
    return seconds * (0.5 + host_random())
