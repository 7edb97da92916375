"""The clock of a trial: it stands still until the test moves it, and handlers that run meanwhile keep their leases."""

from collections.abc import Callable
from datetime import datetime

from detent.client.moments import to_micros
from detent.kernel.clock import SECOND, micros
from detent.lifecycle.bounds import check_at_least
from detent.store.clock import host_clock
from detent.testing.clock import VirtualClock


class TrialClock(VirtualClock):
    """It begins with today's date, at a whole second, and steps only forward.

    Called, it says now in microseconds since the epoch; `now` says it as a datetime. `leave` is called
    before time passes, `attend` at every moment at which somebody has something to do; `next_at` says which is next.
    """

    def __init__(self) -> None:
        super().__init__(host_clock() // SECOND * SECOND)
        self.leave: Callable[[], None] = lambda: None
        self.attend: Callable[[], None] = lambda: None
        self.next_at: Callable[[], int | None] = lambda: None

    def advance(self, seconds: float) -> None:
        """Let time pass. Nothing is run: `drain` does that. Handlers that run now have their leases renewed."""
        check_at_least("seconds", seconds, 0)
        self.advance_to(self() + micros(seconds))

    def move_to(self, moment: datetime) -> None:
        """Begin elsewhere: at a moment of the past only while there is no job yet."""
        self.set(to_micros("moment", moment))

    def advance_to(self, at: int) -> None:
        """Step by step: whoever runs now has something to do at some moments on the way."""
        self.leave()
        while self() < at:
            first = self.next_at()
            self.set(at if first is None else max(min(first, at), self()))
            self.attend()
            if first is not None and first <= self() and self.next_at() == first:
                self.set(at)  # nobody minds any more: its lease is gone
