"""Jobs that are asked for: which statement and which filters answer a query, and the cursors that go on from a page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from detent.kernel import Job
from detent.store import asked
from detent.store.postgres.reading import counted, found, walked_max
from detent.store.postgres.script import Script, ask
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import numbers, texts
from detent.store.query import NUMBER_MAX, Counts, JobQuery, Page, Story, number_of


def find(session: Session, query: JobQuery, limit: int, cursor: str | None) -> Script[Page[Job]]:
    values = asked.given(query) | {
        "before": number_of(cursor, NUMBER_MAX),
        "limit": limit,
        "walked_max": walked_max(limit),
    }
    records = yield from _records(session, query)
    jobs = yield from _numbered(session, found(records, _filters(query)), values)
    return asked.page([job for _, job in jobs], [number for number, _ in jobs], limit)


def count(session: Session, query: JobQuery, by: Sequence[str]) -> Script[Counts]:
    records = yield from _records(session, query)
    counts: Counter[tuple[str | None, ...]] = Counter()
    for number, *values in (yield ask(counted(records, _filters(query), tuple(by)), asked.given(query))):
        counts[tuple(values)] += number
    return dict(counts)


def stories(
    session: Session, tenant: str | None, limit: int, cursor: str | None, job_id: str | None
) -> Script[Page[Story]]:
    if job_id is not None:
        key = {"tenants": texts([tenant]), "ids": texts([job_id])}
        return Page((yield from _told((yield from _numbered(session, SQL["by_ids"], key)))))
    after, last = asked.span(cursor) if cursor is not None else (0, (yield from _last()))
    span = {"after": after, "last": last, "tenant": tenant, "limit": limit}
    jobs = yield from _numbered(session, SQL["stories"], span)
    page = asked.bounded(jobs)
    return Page((yield from _told(page)), asked.onwards(page, jobs, limit, last))


def _numbered(session: Session, sql: str, values: Mapping[str, Any]) -> Script[list[asked.Numbered]]:
    """Jobs with their numbers, which stand first in each row."""
    rows = yield ask(sql, values)
    jobs = yield from session.jobs_of(rows)
    return [(row[0], job) for row, job in zip(rows, jobs, strict=True)]


def _last() -> Script[int]:
    ((last,),) = yield ask(SQL["last_record"], {})
    return int(last)


def _told(jobs: list[asked.Numbered]) -> Script[list[Story]]:
    """Jobs with their logs and notes."""
    if not jobs:
        return []
    meant = {"jobs": numbers([number for number, _ in jobs])}
    logged = yield ask(SQL["events_of"], meant)
    noted = yield ask(SQL["notes_of"], meant)
    return asked.stories_of(jobs, logged, noted)


def _records(session: Session, query: JobQuery) -> Script[str]:
    """Where those that can answer are: among the living, among the ended, or in both."""
    known = (yield from session.lifecycles()) if asked.needs_lifecycles(query) else []
    if asked.is_over(query, known):
        return "ended"
    return "live" if asked.is_live(query, known) else "all"


def _filters(query: JobQuery) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, asked.filters(query)))
