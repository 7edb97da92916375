"""How often somebody may ask: a bucket for each token, and each address without one, which fills at a steady rate."""

from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from typing import Final

from detent.errors import ServiceError

BUCKETS_MAX: Final = 10_000  # of tokens and addresses that are remembered; who was not heard of for longest goes first


class Rates:
    def __init__(self, *, rate_max: float, burst_max: int, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._rate = rate_max
        self._burst = float(burst_max)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, whose: str) -> None:
        """One of the requests that it may make; `ServiceError` if there is none left.

        Whoever is refused pays nothing: else one that asks a little too often would never be let in again.
        """
        now_s = self._clock()
        level = self._level(whose, now_s)
        self._buckets.pop(whose, None)
        self._buckets[whose] = (level - 1 if level >= 1 else level, now_s)
        if len(self._buckets) > BUCKETS_MAX:
            self._buckets.popitem(last=False)
        self._check(level)

    def check(self, whose: str) -> None:
        """Whether one is left, without taking it."""
        self._check(self._level(whose, self._clock()))

    def _level(self, whose: str, now_s: float) -> float:
        level, then_s = self._buckets.get(whose, (self._burst, now_s))
        return min(level + (now_s - then_s) * self._rate, self._burst)

    def _check(self, level: float) -> None:
        if level < 1:
            message = f"more than {self._rate:g} requests a second; ask less often, or many things at once (/v1/batch)"
            raise ServiceError("too_many_requests", message)

    def __len__(self) -> int:
        return len(self._buckets)
