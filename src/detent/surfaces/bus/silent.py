"""Pools whose workers say nothing of themselves: that somebody is there shows by the answers, and by the bus.

How much such a pool can do is not known. What its workers have not begun waits in their memory while its limit runs, so
they get few jobs to begin with, and more as more of them answer.
"""

from collections.abc import Callable
from typing import Final

FIRST: Final = 4  # jobs, of a pool that nobody has answered for yet
EACH: Final = 2  # jobs, for everybody who has: one to do, and one that is there when they are ready for it
ANSWERED_S: Final = 600.0  # for so long whoever has answered counts
POOLS_MAX: Final = 1_000
WORKERS_MAX: Final = 1_000  # of one pool
ABSENT_MAX: Final = 10_000  # topics
ABSENT_S: Final = 0.25  # until it is asked again who serves a topic that nobody did; then longer and longer
ABSENT_S_MAX: Final = 5.0


class Answers:
    """Who has answered for which pool."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until_s: dict[str, dict[str, float]] = {}

    def heard(self, topic: str, worker: str) -> None:
        known = self._until_s.pop(topic, {})
        known[worker] = self._clock() + ANSWERED_S
        while len(known) > WORKERS_MAX:
            del known[next(iter(known))]
        self._until_s[topic] = known
        while len(self._until_s) > POOLS_MAX:
            del self._until_s[next(iter(self._until_s))]

    def room(self, topic: str) -> int:
        now_s = self._clock()
        here = sum(until_s > now_s for until_s in self._until_s.get(topic, {}).values())
        return max(FIRST, EACH * here)


class Absent:
    """Topics that nobody served when it was last asked. However many there are, asking costs little."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until_s: dict[str, tuple[float, float]] = {}  # and how long that was from when it was asked

    def __contains__(self, topic: str) -> bool:
        """Whether it is too early to ask again."""
        return topic in self._until_s and self._clock() < self._until_s[topic][0]

    def add(self, topic: str) -> None:
        _, before_s = self._until_s.pop(topic, (0.0, ABSENT_S / 2))
        pause_s = min(2 * before_s, ABSENT_S_MAX)
        self._until_s[topic] = self._clock() + pause_s, pause_s
        while len(self._until_s) > ABSENT_MAX:
            del self._until_s[next(iter(self._until_s))]

    def discard(self, topic: str) -> None:
        self._until_s.pop(topic, None)

    def clear(self) -> None:
        self._until_s.clear()
