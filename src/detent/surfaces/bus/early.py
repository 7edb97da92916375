"""What is said of a job that is not there: maybe its submission is still to come. Pure, but for the clock it is given.

Another service may have the submission, and be about to commit it; or one had it when it was killed, and it will come
again. Once all that came before a message is dealt with, there is nothing to wait for any more.
"""

from collections.abc import Callable, Collection, Sequence
from time import monotonic
from typing import Final

from detent.surfaces.bus.link import ACK_WAIT_S

KEPT_S: Final = 6 * ACK_WAIT_S  # what a killed service had comes again after one of them, or two
KEPT_MAX: Final = 100  # a sender that speaks of jobs that never were keeps nobody else's messages from the inbox


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
        since_s = {place: at_s for place, at_s in self._since_s.items() if place > settled}
        at_hand = {*seen, *since_s}
        while settled + 1 in at_hand:
            settled += 1
        begun_s = {place: since_s.get(place, now_s) for place in unknown if place > settled}
        kept = [place for place, at_s in begun_s.items() if now_s - at_s < KEPT_S][:KEPT_MAX]
        others = {place: at_s for place, at_s in since_s.items() if place not in unknown and now_s - at_s < 2 * KEPT_S}
        self._since_s = others | {place: begun_s[place] for place in kept}
        return set(kept)
