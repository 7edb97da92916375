"""The log as it is asked for: onwards from a cursor, or back from its end. What a cursor says is in `cursor.py`.

Every page is read by one statement, against what is committed in its eyes. Nothing is lost: an event that is missing
below one that was read was written by a transaction under way, and the cursor names it. Nothing comes twice: what is
seen of a transaction is seen whole, up to a place. And a job's events come in the order of its revisions: each was
written after the one before it was committed, so whoever sees it sees that too, and it has the higher number.
"""

from collections.abc import Sequence
from typing import Any, Final

from detent.store.asked import event_filters, given, leading
from detent.store.postgres.cursor import Place, place_of, present_of
from detent.store.postgres.reading import beyond, page_of_events, walked_max
from detent.store.postgres.script import Script, ask
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import numbers
from detent.store.query import LOOK_BACK_MAX, Entry, EventQuery, Page
from detent.store.rows import Row, event_of

COUNTED_MAX: Final = 10_000  # events among which missing numbers are counted
_HEAD: Final = 4  # columns before those of the event


class Reading:
    """What one statement has read, beginning at a place."""

    def __init__(self, place: Place, rows: Sequence[Row], limit: int) -> None:
        snapshot, next_, last, missing = rows[0][:_HEAD]
        self.rows = [row[_HEAD:] for row in rows if row[_HEAD] is not None]
        self.last = max(last, place.seq)
        self.is_full = len(self.rows) == limit
        self._place = place
        self._present = present_of(snapshot, next_)
        until = self.rows[-1][0] if self.is_full else self.last
        has_gaps = until > place.seq and missing != 0  # if they were not counted, there may be some
        self._late_text = place.after(until, self._present, has_gaps=has_gaps).late_text

    def entries(self) -> list[Entry]:
        return [Entry(self.cursor(row[0]), event_of(row)) for row in self.rows]

    def cursor(self, seq: int) -> str:
        """Of the place that is reached with this event."""
        if seq < self._place.seq:
            return self._place.among_late(seq, self._present).text
        return f"{seq}{self._late_text}"


def events(session: Session, query: EventQuery, limit: int, cursor: str | None) -> Script[Page[Entry]]:
    reading = yield from _read(query, place_of(cursor), limit)
    entries = reading.entries()
    # A page that is not full has looked at all there is.
    return Page(entries, entries[-1].cursor if reading.is_full else reading.cursor(reading.last))


def recent(session: Session, query: EventQuery, limit: int) -> Script[Page[Entry]]:
    """Back from the end, and handed out in the order of commit. What an index leads to is gone through whole."""
    _, by_index = leading(query)
    floor = 0 if by_index else max((yield from _look()).last - LOOK_BACK_MAX, 0)
    reading = yield from _read(query, Place(), limit, floor=floor)
    if not reading.is_full and floor:
        lower = yield ask(SQL["look_back"], {"events": LOOK_BACK_MAX})
        if (counted := lower[0][0] if lower else 0) < floor:  # removed jobs have left gaps
            floor = counted
            reading = yield from _read(query, Place(), limit, floor=floor)
    reached = reading.rows[0][0] - 1 if reading.is_full else floor
    return Page(reading.entries(), reading.cursor(reached) if reached else None)


def end_of_log(session: Session, cursor: str | None = None) -> Script[str]:
    """Its cursor, as that of a reader who went on from another."""
    reading = yield from _look(place_of(cursor))
    return reading.cursor(reading.last)


def is_beyond(session: Session, cursor: str) -> Script[bool]:
    """Whether there is anything, of whichever tenant, that was not seen at this place."""
    place = place_of(cursor)
    ((found,),) = yield ask(beyond(), {"after": place.seq, **_late(place)})
    return bool(found)


def _look(place: Place | None = None) -> Script[Reading]:
    """At the end alone."""
    return (yield from _ask(page_of_events("end_of_log", (), "asc", has_late=False), place or Place(), 1, {}))


def _read(query: EventQuery, place: Place, limit: int, floor: int | None = None) -> Script[Reading]:
    """What comes after the place; with a floor, the newest of what comes after that."""
    name, by_index = leading(query)
    order = "asc" if floor is None else "desc"
    sql = page_of_events(name, event_filters(query, by_index), order, has_late=bool(place.late))
    values = {**given(query), "after": place.seq if floor is None else floor}
    return (yield from _ask(sql, place, limit, values))


def _ask(sql: str, place: Place, limit: int, values: dict[str, Any]) -> Script[Reading]:
    bounds = {"limit": limit, "walked_max": walked_max(limit), "counted_max": COUNTED_MAX}
    rows = yield ask(sql, {**values, **_late(place), **bounds, "known": place.seq})
    return Reading(place, rows, limit)


def _late(place: Place) -> dict[str, str]:
    columns = list(zip(*place.late, strict=True)) or [(), (), ()]
    return {name: numbers(column) for name, column in zip(("firsts", "lasts", "lows"), columns, strict=True)}
