"""Jobs that are asked for: which statement and which filters answer a query, and the cursors that go on from a page."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter

from detent.kernel import Job
from detent.store import asked
from detent.store.query import NUMBER_MAX, Counts, JobQuery, Page, Story, number_of
from detent.store.rows import event_of, note_of
from detent.store.sqlite.session import Session
from detent.store.sqlite.statements import SQL, counting, with_filters


def find(session: Session, query: JobQuery, limit: int, cursor: str | None) -> Page[Job]:
    bindings = asked.given(query) | {"before": number_of(cursor, NUMBER_MAX), "limit": limit}
    name = {"links": "find_linked", "both": "find_both", "records": "find"}[_tables(query)]
    found = [session.connection.execute(with_filters(name, filters), bindings) for filters in _filters(session, query)]
    rows = sorted(chain.from_iterable(found), key=itemgetter(0), reverse=True)[:limit]
    return asked.page([session.job_of(row) for row in rows], [row[0] for row in rows], limit)


def count(session: Session, query: JobQuery, by: Sequence[str]) -> Counts:
    tables = _tables(query)
    counts: Counter[tuple[str | None, ...]] = Counter()
    for filters in _filters(session, query):
        for number, *values in session.connection.execute(counting(tables, filters, tuple(by)), asked.given(query)):
            counts[tuple(values)] += number
    return dict(counts)


def stories(session: Session, tenant: str | None, limit: int, cursor: str | None, job_id: str | None) -> Page[Story]:
    if job_id is not None:
        job = session.job(tenant or "", job_id)
        return Page([] if job is None else [story(session, job, session.number(tenant or "", job_id))])
    after, last = (0, _last(session)) if cursor is None else asked.span(cursor)
    bindings = {"after": after, "last": last, "tenant": tenant, "limit": limit}
    jobs = [(row[0], session.job_of(row)) for row in session.connection.execute(SQL["stories"], bindings)]
    page = asked.bounded(jobs)
    return Page(_told(session, tenant, page), asked.onwards(page, jobs, limit, last))


def _last(session: Session) -> int:
    ((last,),) = session.connection.execute(SQL["last_record"])
    return int(last)


def _told(session: Session, tenant: str | None, jobs: list[asked.Numbered]) -> list[Story]:
    """Jobs with their logs. Their numbers follow one another, so one statement reads all of the logs."""
    if not jobs:
        return []
    execute, span = session.connection.execute, {"first": jobs[0][0], "last": jobs[-1][0], "tenant": tenant}
    return asked.stories_of(jobs, execute(SQL["events_between"], span), execute(SQL["notes_between"], span))


def story(session: Session, job: Job, number: int) -> Story:
    connection = session.connection
    log = [event_of(row) for row in connection.execute(SQL["events_of"], (number,))]
    notes = [note_of(row, job.id) for row in connection.execute(SQL["notes_of"], (number,))]
    return Story(job, log, notes)


def _filters(session: Session, query: JobQuery) -> list[tuple[str, ...]]:
    """The blocks that say what was asked for. Outcomes other than success are rare, and have a block of their own."""
    known = session.definitions.known(session.connection) if asked.needs_lifecycles(query) else []
    live = ["live"] if asked.is_live(query, known) else []
    is_rare = query.outcome not in (None, "success")
    return [
        tuple(f"find_{'rare_outcome' if is_rare and name == 'outcome' else name}" for name in names + live)
        for names in asked.filters(query)
    ]


def _tables(query: JobQuery) -> str:
    """What has to be looked at to know which jobs are meant: the record has no topic and no key."""
    if asked.is_linked(query):
        return "links"
    return "records" if query.topic is query.dedupe_key is query.limit_key is None else "both"
