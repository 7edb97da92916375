"""The log as it is asked for: onwards from a cursor, or back from its end."""

from functools import partial
from typing import Final

from detent.store.asked import event_filters, given, leading
from detent.store.query import LOOK_BACK_MAX, NUMBER_MAX, Entry, EventQuery, Page, number_of
from detent.store.rows import event_of
from detent.store.sqlite.session import Session
from detent.store.sqlite.statements import SQL, with_filters

NEAR: Final = 10_000  # events
_BY_TYPE: Final = frozenset({"tenant", "type", "at_from", "at_until"})


def events(session: Session, query: EventQuery, limit: int, cursor: str | None) -> Page[Entry]:
    after, end = number_of(cursor), int(end_of_log(session))
    name, by_index = _index_for(query, is_near=end - after <= NEAR)
    entries = _select(session, name, by_index, query, {"after": after, "limit": limit})
    # A page that is not full has looked at all there is.
    return Page(entries, entries[-1].cursor if len(entries) == limit else str(max(end, after)))


def recent(session: Session, query: EventQuery, limit: int) -> Page[Entry]:
    """Back from the end, and handed out in the order of commit. What an index leads to is gone through whole."""
    name, by_index = _index_for(query, is_near=True)
    newest = partial(_select, session, name, by_index, query, order="desc")
    floor = 0 if by_index else max(int(end_of_log(session)) - LOOK_BACK_MAX, 0)
    entries = newest({"after": floor, "limit": limit})
    if len(entries) < limit and floor and (lower := _floor(session)) < floor:  # removed jobs have left gaps
        floor, entries = lower, newest({"after": lower, "limit": limit})
    reached = int(entries[-1].cursor) - 1 if len(entries) == limit else floor
    return Page(entries[::-1], str(reached) if reached else None)


def end_of_log(session: Session) -> str:
    return str(session.connection.execute(SQL["end_of_log"])[0][0])


def _index_for(query: EventQuery, *, is_near: bool) -> tuple[str, frozenset[str]]:
    """The statement whose index finds the most, and the filters it has built in.

    Near its end the log itself is short, and a reader that follows it is best served by walking along.
    """
    if given(query).keys() <= _BY_TYPE and query.type is not None and not is_near:
        return "events_by_type", _BY_TYPE
    return leading(query)


def _floor(session: Session) -> int:
    """Behind so many events, counted; which takes a walk along them."""
    row = session.connection.one(SQL["look_back"], (LOOK_BACK_MAX,))
    return 0 if row is None else int(row[0])


def _select(
    session: Session,
    name: str,
    by_index: frozenset[str],
    query: EventQuery,
    place: dict[str, int],
    order: str = "asc",
) -> list[Entry]:
    times = {"at_from": query.at_from or 0, "at_until": NUMBER_MAX if query.at_until is None else query.at_until}
    sql = with_filters(name, event_filters(query, by_index), order)
    rows = session.connection.execute(sql, given(query) | times | place)
    return [Entry(str(row[0]), event_of(row)) for row in rows]
