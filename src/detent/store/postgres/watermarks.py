"""Where claims begin to look, while the beginning of a queue is a field of rubble.

A claimed job leaves a dead entry in the index. As a rule the next claim clears it away. But while anybody's transaction
stays open, for a minute or an hour, nothing can be cleared, and each claim would walk over every job that was claimed
since: ten times slower within a minute. So after a claim that took long the next ones begin where it ended, and only
now and then one looks from the very start again, as often as a tenth of the time allows.

What comes into the queue before that place meanwhile waits for that look, and so does what becomes due in a lane in
which nothing was; what this client itself puts there does not.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from detent.store.request import ClaimRequest
from detent.store.waiting import now_s

Lane = tuple[str, str, str]  # queue, kind, adapter
Place = tuple[int, int]  # order_at and the number of the job
Names = tuple[str, ...]
Key = tuple[str, Names, Names | None, Names | None, frozenset[Lane]]  # of a claim: whose, and what
FIRST: Final[Place] = (-(2**63), 0)
SLOW_S: Final = 0.004
SLOW_ROW_S: Final = 0.00005
SLOWER: Final = 4.0  # so many times as long as the quickest look of this kind
LOOKS: Final = 3  # in a row that were slow: one alone may be a busy machine
REST: Final = 10.0  # so many times the length of a look from the start passes until the next
KINDS_MAX: Final = 1_000  # of claims


class Pace(Struct):
    """How long looks from the start take."""

    best_s: float
    slow: int = 0


class Watermark(Struct):
    places: dict[Lane, Place]
    until: float


class Watermarks:
    """One for all connections of a store."""

    def __init__(self, clock: Callable[[], float] = now_s) -> None:
        self._marks: dict[Key, Watermark] = {}
        self._paces: dict[Key, Pace] = {}
        self._clock = clock

    def start(self, request: ClaimRequest) -> dict[Lane, Place] | None:
        """Where to begin in each lane; None: from the very start."""
        mark = self._marks.get(_key(request)) if self._marks else None
        return dict(mark.places) if mark is not None and self._clock() < mark.until else None

    def wants_mark(self, request: ClaimRequest) -> bool:
        """Whether looks from the start are slow, and it has to be found out where to begin instead."""
        pace = self._paces.get(_key(request)) if self._paces else None
        return pace is not None and pace.slow >= LOOKS and self.start(request) is None

    def looked(self, request: ClaimRequest, places: dict[Lane, Place] | None, took_s: float, rows: int) -> None:
        """From the start, and how far it came in each lane, if all of them were seen. If that was quick, there is no
        need of a mark.
        """
        key = _key(request)
        if len(self._paces) > KINDS_MAX:
            self._paces = {}
        pace = self._paces.setdefault(key, Pace(took_s))
        pace.best_s = min(pace.best_s, took_s)
        is_slow = took_s > SLOW_S + SLOW_ROW_S * rows and took_s >= SLOWER * pace.best_s
        pace.slow = pace.slow + 1 if is_slow else 0
        if pace.slow < LOOKS or places is None:
            self._marks.pop(key, None)
        else:
            self._marks[key] = Watermark(places, self._clock() + REST * took_s)

    def went_on(self, request: ClaimRequest, places: dict[Lane, Place]) -> None:
        """From the mark."""
        mark = self._marks.get(_key(request))
        if mark is not None:
            mark.places = places

    def came(self, tenant: str, lane: Lane, place: Place) -> None:
        """A job was put into a queue: whoever would begin behind it does not."""
        for key, mark in tuple(self._marks.items()):
            known = mark.places.get(lane)
            is_before = _is_asked_for(lane, key) if known is None else place < known
            if key[0] == tenant and is_before:
                self._marks.pop(key, None)

    @property
    def is_used(self) -> bool:
        return bool(self._marks)


def _is_asked_for(lane: Lane, key: Key) -> bool:
    """A lane that was empty when the mark was made."""
    _, queues, kinds, _, _ = key
    return lane[0] in queues and (kinds is None or lane[1] in kinds)


def _key(request: ClaimRequest) -> Key:
    return request.tenant, request.queues, request.kinds, request.adapters, request.spared
