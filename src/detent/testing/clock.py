"""Time for tests: it stands still until it is told otherwise."""

from datetime import datetime
from typing import Final

from detent.client.moments import to_moment
from detent.kernel.clock import micros

START: Final = 1_750_000_000_000_000  # 2025-06-15T15:06:40Z


class VirtualClock:
    """A store's clock that only the test moves. Called, it says now, in microseconds since the epoch."""

    def __init__(self, at: int = START) -> None:
        self._now = at

    def __call__(self) -> int:
        return self._now

    @property
    def now(self) -> datetime:
        return to_moment(self._now)

    def pass_s(self, seconds: float) -> None:
        """Let time pass, or, with a number below zero, step back."""
        self._now += micros(seconds)

    def set(self, at: int) -> None:
        self._now = at
