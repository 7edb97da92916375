"""Jobs that wait for a verdict, and the pace at which a rule lets jobs through."""

from collections.abc import Sequence
from itertools import product

from detent.kernel import Job
from detent.store.judging import page_of, place_of, spaced, unjudged_states
from detent.store.query import Page
from detent.store.request import Request
from detent.store.sqlite.session import Session
from detent.store.sqlite.statements import SQL


def unjudged(
    session: Session, tenant: str, queues: Sequence[str], kinds: Sequence[str], limit: int, cursor: str | None
) -> Page[Job]:
    connection, after = session.connection, place_of(cursor)
    found: list[tuple[int, int]] = []
    for (lifecycle, state), queue, kind in product(
        unjudged_states(session.definitions.known(connection)), dict.fromkeys(queues), dict.fromkeys(kinds)
    ):
        number = session.definitions.lifecycle_number(connection, lifecycle.name, lifecycle.version)
        rows = connection.execute(SQL["unjudged"], (tenant, number, state, queue, kind, *after, limit))
        found += [(created_at, job) for created_at, job in rows]
    page = [job for _, job in sorted(found)[:limit]]
    return page_of(session.numbered(page), page, limit)


def paced(session: Session, tenant: str, rule: str, every: int, requests: Sequence[Request]) -> list[Request]:
    known = session.connection.one(SQL["pace"], (tenant, rule))
    jobs = [session.job(each.tenant, each.job_id) for each in requests]
    timed, next_at = spaced(requests, jobs, next_at=0 if known is None else known[0], every=every, now=session.now)
    session.connection.execute(SQL["set_pace"], (tenant, rule, next_at))
    return timed
