"""Pools whose workers say nothing of themselves: that somebody is there shows by the answers, and by the bus.

How much such a pool can do is not known. What its workers have not begun waits in their memory while its limit runs, so
they get few jobs to begin with, and more as more of them answer, or as they answer faster.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

FIRST: Final = 4  # jobs, of a pool that nobody has answered for yet
EACH: Final = 2  # jobs, for everybody who has: one to do, and one that is there when they are ready for it
QUICK_MAX: Final = 32  # jobs, of a pool that does so many in a second
ANSWERED_S: Final = 600.0  # for so long whoever has answered counts
POOLS_MAX: Final = 1_000
WORKERS_MAX: Final = 1_000  # of one pool
ABSENT_MAX: Final = 10_000  # topics
ABSENT_S: Final = 0.5  # until it is asked again who serves a topic that nobody did
ABSENT_S_MAX: Final = 5.0
ASKING_S: Final = 0.005  # for each such topic, however many there are: asking takes a fraction of it


class Answering(Struct):
    """Who has answered for a pool, and until when that counts; and how many answers there were by the second."""

    until_s: dict[str, float] = {}
    second: int = 0
    count: int = 0
    count_before: int = 0

    def heard(self, worker: str, now_s: float) -> None:
        self.until_s.pop(worker, None)
        self.until_s[worker] = now_s + ANSWERED_S
        while len(self.until_s) > WORKERS_MAX:
            del self.until_s[next(iter(self.until_s))]
        self._turn(int(now_s))
        self.count += 1

    def room(self, now_s: float) -> int:
        self._turn(int(now_s))
        here = sum(until_s > now_s for until_s in self.until_s.values())
        return max(FIRST, EACH * here, min(QUICK_MAX, max(self.count, self.count_before)))

    def _turn(self, second: int) -> None:
        if second != self.second:
            self.count_before = self.count if second == self.second + 1 else 0
            self.second, self.count = second, 0


class Answers:
    """By topic."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._pools: dict[str, Answering] = {}

    def heard(self, topic: str, worker: str) -> None:
        pool = self._pools.pop(topic, None) or Answering()
        pool.heard(worker, self._clock())
        self._pools[topic] = pool
        while len(self._pools) > POOLS_MAX:
            del self._pools[next(iter(self._pools))]

    def room(self, topic: str) -> int:
        pool = self._pools.get(topic)
        return FIRST if pool is None else pool.room(self._clock())


class Absent:
    """Topics that nobody served when it was last asked. However many there are, asking costs little."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._asked_s: dict[str, float] = {}

    def __contains__(self, topic: str) -> bool:
        """Whether it is too early to ask again."""
        pause_s = min(max(ABSENT_S, ASKING_S * len(self._asked_s)), ABSENT_S_MAX)
        return topic in self._asked_s and self._clock() - self._asked_s[topic] < pause_s

    def add(self, topic: str) -> None:
        """Of topics that nobody has asked for since, nothing need be known."""
        now_s = self._clock()
        self._asked_s.pop(topic, None)
        self._asked_s[topic] = now_s
        while len(self._asked_s) > ABSENT_MAX or now_s - self._asked_s[next(iter(self._asked_s))] > 2 * ABSENT_S_MAX:
            del self._asked_s[next(iter(self._asked_s))]

    def discard(self, topic: str) -> None:
        self._asked_s.pop(topic, None)

    def clear(self) -> None:
        self._asked_s.clear()
