"""What is said of a job that is not there: maybe its submission is still to come. Pure, but for the clock it is given.

Another service may have the submission, and be about to commit it; or one had it when it was killed, and it will come
again. Once all that came before a message is dealt with, there is nothing to wait for any more.
"""

from collections.abc import Callable, Collection, Sequence
from time import monotonic
from typing import Final

from detent.surfaces.bus.link import ACK_WAIT_S

EARLY_S: Final = 6 * ACK_WAIT_S  # what a killed service had comes again after one of them, or two
# At once: what waits takes up the inbox, and a sender that speaks of jobs that never were is to keep nobody from it.
EARLY_MAX: Final = 40


class Early:
    """Messages go by their places in the stream of all that came."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._since_s: dict[int, float] = {}

    def keep(self, unknown: Sequence[int], *, settled: int, seen: Collection[int]) -> set[int]:
        """Which of these, of whose jobs nothing is known, are to come again.

        Up to `settled` all is dealt with, and `seen` are at hand: their submissions are committed.
        """
        now_s = self._clock()
        at_hand = {*seen, *self._since_s}
        while settled + 1 in at_hand:
            settled += 1
        # For a while after its time is over it is known when a message first came, lest it begin anew.
        waiting = {at: since for at, since in self._since_s.items() if at > settled and now_s - since < 2 * EARLY_S}
        for place in unknown:
            if place > settled and place not in waiting and len(waiting) < EARLY_MAX:
                waiting[place] = now_s
        self._since_s = waiting
        return {place for place in unknown if place in waiting and now_s - waiting[place] < EARLY_S}
