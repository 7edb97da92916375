"""Listings: which statement and which filters answer a query, and the cursors that go on from a page."""

from operator import itemgetter
from typing import Any, Final

from detent.errors import InvalidArgument
from detent.kernel import Job
from detent.store.query import Entry, EventQuery, JobQuery, Page, Story
from detent.store.sqlite.rows import Row, event_of, note_of
from detent.store.sqlite.session import Session
from detent.store.sqlite.statements import SQL, with_filters

_LAST: Final = 2**63 - 1
# What an index of the spec finds; the first that is asked for leads.
_LINKS: Final = ("correlation_id", "parent_job_id", "workflow_id")


def find(session: Session, query: JobQuery, limit: int, cursor: str | None) -> Page[Job]:
    given = _given(query)
    bindings = given | {"before": number_of(cursor, _LAST), "limit": limit}
    is_linked = any(name in given for name in _LINKS)
    filters = [name for name in given if name != "tenant"]
    if "outcome" in filters and query.outcome != "success":
        filters[filters.index("outcome")] = "rare_outcome"
    if _is_live(session, query):
        filters.append("live")
    rows = _select(session, "find_linked" if is_linked else "find", filters, bindings)
    if query.correlation_id is not None:
        rows += _select(session, "find_linked", _own(filters), bindings)
        rows = sorted(rows, key=itemgetter(0), reverse=True)[:limit]
    return _page([session.job_of(row) for row in rows], [row[0] for row in rows], limit)


def events(session: Session, query: EventQuery, limit: int, cursor: str | None) -> Page[Entry]:
    given = _given(query)
    if query.type is not None and (cursor is None or ":" in cursor):
        return _events_by_type(session, query, given, limit, cursor)
    after = number_of(cursor, 0)
    if query.job_id is not None:
        name, by_index = "events_of_job", {"job_id"}
    elif query.correlation_id is not None:
        name, by_index = "events_by_correlation", {"correlation_id"}
    else:
        name, by_index = "events", set()
    filters = tuple(each for each in given if each not in by_index | {"tenant"})
    rows = session.connection.execute(with_filters(name, filters), given | {"after": after, "limit": limit})
    entries = [Entry(str(row[0]), event_of(row)) for row in rows]
    if len(entries) == limit:
        return Page(entries, entries[-1].cursor)
    return Page(entries, max(end_of_log(session), str(after), key=int))  # all there is was looked at


def stories(session: Session, tenant: str | None, limit: int, cursor: str | None, job_id: str | None) -> Page[Story]:
    if job_id is not None:
        job = session.job(tenant or "", job_id)
        return Page([] if job is None else [story(session, job, session.number(tenant or "", job_id))])
    after = number_of(cursor, 0)
    rows = session.connection.execute(SQL["stories"], {"after": after, "tenant": tenant, "limit": limit})
    told = [(row[0], story(session, session.job_of(row), row[0])) for row in rows]
    return Page([each for _, each in told], str(told[-1][0]) if len(told) == limit else None)


def end_of_log(session: Session) -> str:
    return str(session.connection.execute(SQL["end_of_log"])[0][0])


def story(session: Session, job: Job, number: int) -> Story:
    connection = session.connection
    log = [event_of(row) for row in connection.execute(SQL["events_of"], (number,))]
    notes = [note_of(row, job.id) for row in connection.execute(SQL["notes_of"], (number,))]
    return Story(job, log, notes)


def _events_by_type(
    session: Session, query: EventQuery, given: dict[str, Any], limit: int, cursor: str | None
) -> Page[Entry]:
    """By time, along the index. The place is a moment and a number."""
    at, _, after = (cursor or f"{(query.at_from or 0) - 1}:0").partition(":")
    place = {"after_at": number_of(at, 0), "after": number_of(after, 0), "limit": limit}
    filters = tuple(each for each in given if each not in ("tenant", "type", "at_from"))
    rows = session.connection.execute(with_filters("events_by_type", filters), given | place)
    entries = [Entry(f"{row[8]}:{row[0]}", event_of(row)) for row in rows]
    return Page(entries, entries[-1].cursor if entries else f"{at}:{after}")


def _given(query: JobQuery | EventQuery) -> dict[str, Any]:
    return {name: value for name in query.__struct_fields__ if (value := getattr(query, name)) is not None}


def _is_live(session: Session, query: JobQuery) -> bool:
    """Whether only jobs that have not ended can answer: then their index keeps the others out of the way."""
    if query.phase is not None:
        return query.phase != "ended"
    if query.owner is not None:
        return True
    if query.state is None:
        return False
    known = session.definitions.known(session.connection)
    phases = {lifecycle.by_name[query.state].phase for lifecycle in known if query.state in lifecycle.by_name}
    return bool(phases) and "ended" not in phases


def _select(session: Session, name: str, filters: list[str], bindings: dict[str, Any]) -> list[Row]:
    return session.connection.execute(with_filters(name, tuple(f"find_{each}" for each in filters)), bindings)


def _own(filters: list[str]) -> list[str]:
    """The job whose own id is the correlation id asked for."""
    return ["own_correlation_id" if each == "correlation_id" else each for each in filters]


def _page(jobs: list[Job], numbers: list[int], limit: int) -> Page[Job]:
    return Page(jobs, str(min(numbers)) if len(jobs) >= limit else None)


def number_of(cursor: str | None, default: int = 0) -> int:
    if cursor is None:
        return default
    try:
        number = int(cursor)
    except ValueError:
        number = _LAST + 1
    if not -_LAST <= number <= _LAST:
        raise InvalidArgument(f"cursor is {cursor!r}; give one that a listing returned", code="bad_cursor")
    return number
