"""Where a reader of the log is: what it has seen, and how that is written as a cursor.

Events are read in the order of `seq`, which is that of writing. But a transaction may commit late, and its events then
appear behind a place that readers have passed. So a place also names the transactions that were under way when it was
passed: what they wrote before it is still to come. As a rule there are none, and the cursor is a number.

`120~90:7480-2+3.15` is a place with some: seen is all up to 120, but for what transaction 7480 wrote after 90, and what
transaction 7482 and the three that follow it wrote after 105.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from msgspec import Struct

from detent.store.query import NUMBER_MAX, number_of

_STEP: Final = r"[1-9][0-9]{0,18}(?:\+[1-9][0-9]{0,18})?(?:\.[0-9]{1,19})?"
_CURSOR: Final = re.compile(rf"([0-9]{{1,19}})~([0-9]{{1,19}}):({_STEP}(?:-{_STEP})*)")


class Late(NamedTuple):
    """Transactions whose numbers follow one another, and the place after which nothing of theirs was seen."""

    first: int
    last: int
    low: int


class Present(NamedTuple):
    """What is committed in the eyes of a statement: every transaction below `until`, but for those under way."""

    until: int
    under_way: tuple[int, ...]  # those below `until`, in their order
    next: int  # the number that was not given out yet: those from `until` to here are under way too

    def open_parts(self, late: Late) -> list[Late]:
        """Those of these transactions that are under way."""
        parts = [Late(each, each, late.low) for each in self.under_way if late.first <= each <= late.last]
        # What was never given out here is of another server, from which this store was restored: it has ended.
        beyond = Late(max(late.first, self.until), min(late.last, self.next - 1), late.low)
        return [*parts, beyond] if beyond.first <= beyond.last else parts

    def ended_parts(self, late: Late) -> list[Late]:
        """The others: what they wrote is there, and all there will ever be."""
        parts = self.open_parts(late)
        firsts = [late.first, *[part.last + 1 for part in parts]]
        lasts = [*[part.first - 1 for part in parts], late.last]
        return [Late(first, last, late.low) for first, last in zip(firsts, lasts, strict=True) if first <= last]


class Place(Struct, frozen=True):
    """Seen is all up to `seq`, but for what these transactions wrote after their own places."""

    seq: int = 0
    late: tuple[Late, ...] = ()

    def after(self, seq: int, present: Present, *, has_gaps: bool) -> "Place":
        """When all there is up to here was read. If numbers were missing, whatever is under way may have them."""
        kept = self._open(present)
        return Place(seq, tuple(sorted(kept + _unnamed(kept, present, self.seq) if has_gaps else kept)))

    def among_late(self, seq: int, present: Present) -> "Place":
        """When of what has come late all up to here was read."""
        ended = [part for late in self.late for part in present.ended_parts(late)]
        read = [Late(first, last, max(low, seq)) for first, last, low in ended]
        return Place(self.seq, tuple(sorted(self._open(present) + read)))

    @property
    def text(self) -> str:
        return f"{self.seq}{self.late_text}"

    @property
    def late_text(self) -> str:
        """The same for every event of a page."""
        if not self.late:
            return ""
        base = min(late.low for late in self.late)
        return f"~{base}:{'-'.join(_steps(self.late, base))}"

    def _open(self, present: Present) -> list[Late]:
        return [part for late in self.late for part in present.open_parts(late)]


def place_of(cursor: str | None) -> Place:
    match = None if cursor is None else _CURSOR.fullmatch(cursor)
    if match is None:
        return Place(number_of(cursor))
    place = Place(int(match[1]), tuple(_spans(match[3], int(match[2]))))
    greatest = max(place.seq, *[max(late.last, late.low) for late in place.late])
    if place.text == cursor and greatest <= NUMBER_MAX:
        return place
    return Place(number_of(cursor))  # which refuses it: it is no number


def present_of(snapshot: str, next_: int) -> Present:
    """From what the server says: `xmin:xmax:xip,xip`."""
    _, until, under_way = snapshot.split(":")
    return Present(int(until), tuple(sorted(int(each) for each in under_way.split(",") if each)), next_)


def _unnamed(kept: list[Late], present: Present, low: int) -> list[Late]:
    """What is under way and not named yet. Those above the snapshot follow on from those named before."""
    named = {late.first for late in kept}
    first = max([late.last + 1 for late in kept if late.last >= present.until], default=present.until)
    beyond = [Late(first, present.next - 1, low)] if first < present.next else []
    return [Late(each, each, low) for each in present.under_way if each not in named] + beyond


def _steps(spans: Iterable[Late], base: int) -> Iterator[str]:
    """Each number by its distance from the one before. `+`: how many more follow it; `.`: how far its place is above
    the base, if that is not so of the one before it as well.
    """
    before, rise = 0, 0
    for first, last, low in spans:
        more = f"+{last - first}" if last > first else ""
        yield f"{first - before}{more}{f'.{low - base}' if low - base != rise else ''}"
        before, rise = last, low - base


def _spans(steps: str, base: int) -> Iterator[Late]:
    before, rise = 0, 0
    for step in steps.split("-"):
        span, _, rises = step.partition(".")
        distance, _, more = span.partition("+")
        first = before + int(distance)
        before, rise = first + int(more or 0), int(rises) if rises else rise
        yield Late(first, before, base + rise)
