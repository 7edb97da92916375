"""How many of a pool's jobs no worker has any more, by what the workers say of how busy they are. Pure.

A worker that was killed leaves jobs behind, which end by their limit. Until then they are nobody's, and must not take
the room of the workers that are there.
"""

from typing import Final

from msgspec import Struct

from detent.store.fleet import SEEN_S

WINDOW_S: Final = SEEN_S  # in which every worker has said how busy it is
GAP_S: Final = 5.0  # after which it is not known what was in between


class Missing(Struct):
    """What is in flight beside what workers say they have is on its way, or lost: what is so all the time is lost."""

    since_s: float = float("-inf")
    looked_s: float = float("-inf")
    least: int = 0
    count: int = 0

    def look(self, unaccounted: int, now_s: float) -> int:
        """As of now; it takes a whole window to be found out, and none to be found again."""
        if now_s - self.looked_s > GAP_S:
            self.since_s, self.least, self.count = now_s, unaccounted, 0
        self.looked_s = now_s
        self.least, self.count = min(self.least, unaccounted), min(self.count, unaccounted)
        if now_s - self.since_s >= WINDOW_S:
            self.since_s, self.least, self.count = now_s, unaccounted, self.least
        return self.count
