"""Jobs that are asked for: which statement and which filters answer a query, and the cursors that go on from a page."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any, Final

from detent.kernel import Event, Job, Note
from detent.store.query import NUMBER_MAX, Counts, JobQuery, Page, Story, number_of
from detent.store.sqlite.rows import event_of, note_of
from detent.store.sqlite.session import Session
from detent.store.sqlite.statements import SQL, counting, with_filters

EVENTS_MAX: Final = 10_000  # in a page of stories
# What an index of the spec finds; the first that is asked for leads.
_LINKS: Final = ("correlation_id", "parent_job_id", "workflow_id")


def find(session: Session, query: JobQuery, limit: int, cursor: str | None) -> Page[Job]:
    bindings = _given(query) | {"before": number_of(cursor, NUMBER_MAX), "limit": limit}
    name = {"links": "find_linked", "both": "find_both", "records": "find"}[_tables(query)]
    found = [session.connection.execute(with_filters(name, filters), bindings) for filters in _filters(session, query)]
    rows = sorted(chain.from_iterable(found), key=itemgetter(0), reverse=True)[:limit]
    return _page([session.job_of(row) for row in rows], [row[0] for row in rows], limit)


def count(session: Session, query: JobQuery, by: Sequence[str]) -> Counts:
    tables = _tables(query)
    counts: Counter[tuple[str | None, ...]] = Counter()
    for filters in _filters(session, query):
        for number, *values in session.connection.execute(counting(tables, filters, tuple(by)), _given(query)):
            counts[tuple(values)] += number
    return dict(counts)


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


def story(session: Session, job: Job, number: int) -> Story:
    connection = session.connection
    log = [event_of(row) for row in connection.execute(SQL["events_of"], (number,))]
    notes = [note_of(row, job.id) for row in connection.execute(SQL["notes_of"], (number,))]
    return Story(job, log, notes)


def _filters(session: Session, query: JobQuery) -> list[tuple[str, ...]]:
    """The blocks that say what was asked for. A correlation id is also that of the job whose own id it is."""
    filters = [name for name in _given(query) if name != "tenant"]
    if query.outcome is not None and query.outcome != "success":
        filters[filters.index("outcome")] = "rare_outcome"
    if _is_live(session, query):
        filters.append("live")
    asked = [filters] if query.correlation_id is None else [filters, _own(filters)]
    return [tuple(f"find_{name}" for name in names) for names in asked]


def _given(query: JobQuery) -> dict[str, Any]:
    return {name: value for name in query.__struct_fields__ if (value := getattr(query, name)) is not None}


def _is_linked(query: JobQuery) -> bool:
    return any(getattr(query, name) is not None for name in _LINKS)


def _tables(query: JobQuery) -> str:
    """What has to be looked at to know which jobs are meant."""
    return "links" if _is_linked(query) else "both" if _is_about_spec(query) else "records"


def _is_about_spec(query: JobQuery) -> bool:
    """Whether it asks for what the record does not have."""
    return query.topic is not None or query.dedupe_key is not None


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


def _own(filters: list[str]) -> list[str]:
    """The job whose own id is the correlation id asked for."""
    return ["own_correlation_id" if each == "correlation_id" else each for each in filters]


def _page(jobs: list[Job], numbers: list[int], limit: int) -> Page[Job]:
    return Page(jobs, str(min(numbers)) if len(jobs) >= limit else None)
