"""How long, and how often, a service is asked again before whoever asked is told."""

import threading
from typing import Final

from detent.store.clock import host_random
from detent.store.waiting import now_s

FIRST_S: Final = 0.05
MOST_S: Final = 2.0


class Patience:
    """`retry_s`: how long a service may be out of reach. Closing the store ends it at once."""

    def __init__(self, retry_s: float, closed: threading.Event) -> None:
        self._deadline_s = now_s() + retry_s
        self._closed = closed
        self._next_s = FIRST_S

    def allows(self, at_least_s: float = 0.0) -> bool:
        """Whether to ask again, after a pause that it takes: longer each time, and never in step with others."""
        pause_s = max(at_least_s, self._next_s) * (0.5 + host_random() / 2) + at_least_s / 2
        self._next_s = min(2 * self._next_s, MOST_S)
        if now_s() + pause_s > self._deadline_s:
            return False
        return not self._closed.wait(pause_s)
