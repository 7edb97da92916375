"""Listings: which statement and which filters answer a query, and the cursors that go on from a page."""

from bisect import bisect_right
from collections import defaultdict
from itertools import accumulate
from operator import itemgetter
from typing import Any, Final

from detent.kernel import Event, Job, Note
from detent.store.query import NUMBER_MAX, Entry, EventQuery, JobQuery, Page, Story, number_of
from detent.store.sqlite.rows import Row, event_of, note_of
from detent.store.sqlite.session import Session
from detent.store.sqlite.statements import SQL, with_filters

NEAR: Final = 10_000  # events
EVENTS_MAX: Final = 10_000  # in a page of stories
# What an index of the spec finds; the first that is asked for leads.
_LINKS: Final = ("correlation_id", "parent_job_id", "workflow_id")


def find(session: Session, query: JobQuery, limit: int, cursor: str | None) -> Page[Job]:
    given = _given(query)
    bindings = given | {"before": number_of(cursor, NUMBER_MAX), "limit": limit}
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
    after, end = number_of(cursor), int(end_of_log(session))
    name, by_index = _index_for(query, is_near=end - after <= NEAR)
    given = _given(query)
    filters = tuple(each for each in given if each not in by_index | {"tenant"})
    times = {"at_from": query.at_from or 0, "at_until": NUMBER_MAX if query.at_until is None else query.at_until}
    bindings = given | times | {"after": after, "limit": limit}
    rows = session.connection.execute(with_filters(name, filters), bindings)
    entries = [Entry(str(row[0]), event_of(row)) for row in rows]
    # A page that is not full has looked at all there is.
    return Page(entries, entries[-1].cursor if len(entries) == limit else str(max(end, after)))


def _index_for(query: EventQuery, *, is_near: bool) -> tuple[str, set[str]]:
    """The statement whose index finds the most, and the filters it has built in.

    Near its end the log itself is short, and a reader that follows it is best served by walking along.
    """
    if query.job_id is not None:
        return "events_of_job", {"job_id"}
    if query.correlation_id is not None:
        return "events_by_correlation", {"correlation_id"}
    if query.type is not None and query.queue is None and query.kind is None and not is_near:
        return "events_by_type", {"type", "at_from", "at_until"}
    return "events", set()


def stories(session: Session, tenant: str | None, limit: int, cursor: str | None, job_id: str | None) -> Page[Story]:
    if job_id is not None:
        job = session.job(tenant or "", job_id)
        return Page([] if job is None else [story(session, job, session.number(tenant or "", job_id))])
    after, last = _span(session, cursor)
    bindings = {"after": after, "last": last, "tenant": tenant, "limit": limit}
    jobs = [(row[0], session.job_of(row)) for row in session.connection.execute(SQL["stories"], bindings)]
    page = _bounded(jobs)
    is_end = len(page) == len(jobs) < limit
    return Page(_told(session, tenant, page), None if is_end else f"{page[-1][0]}:{last}")


def _span(session: Session, cursor: str | None) -> tuple[int, int]:
    """Where the walk goes on, and where it ends: with what there was when it began, however much comes after."""
    if cursor is None:
        ((last,),) = session.connection.execute(SQL["last_record"])
        return 0, last
    after, _, last = cursor.partition(":")
    return number_of(after), number_of(last)


def _bounded(jobs: list[tuple[int, Job]]) -> list[tuple[int, Job]]:
    """As many as have so many events together, and one at least."""
    events = list(accumulate(job.rev for _, job in jobs))
    return jobs[: max(bisect_right(events, EVENTS_MAX), 1)]


def _told(session: Session, tenant: str | None, jobs: list[tuple[int, Job]]) -> list[Story]:
    """Jobs with their logs. Their numbers follow one another, so one statement reads all of the logs."""
    if not jobs:
        return []
    span = {"first": jobs[0][0], "last": jobs[-1][0], "tenant": tenant}
    logs: dict[int, list[Event]] = defaultdict(list)
    for number, *row in session.connection.execute(SQL["events_between"], span):
        logs[number].append(event_of(tuple(row)))
    ids = {number: job.id for number, job in jobs}
    notes: dict[int, list[Note]] = defaultdict(list)
    for number, *row in session.connection.execute(SQL["notes_between"], span):
        notes[number].append(note_of(tuple(row), ids[number]))
    return [Story(job, logs[number], notes[number]) for number, job in jobs]


def end_of_log(session: Session) -> str:
    return str(session.connection.execute(SQL["end_of_log"])[0][0])


def story(session: Session, job: Job, number: int) -> Story:
    connection = session.connection
    log = [event_of(row) for row in connection.execute(SQL["events_of"], (number,))]
    notes = [note_of(row, job.id) for row in connection.execute(SQL["notes_of"], (number,))]
    return Story(job, log, notes)


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
