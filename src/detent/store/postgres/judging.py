"""Jobs that wait for a verdict, and the pace at which a rule lets jobs through."""

from collections.abc import Sequence

from detent.kernel import Job
from detent.store.judging import page_of, place_of, spaced, unjudged_states
from detent.store.postgres.script import Script, ask
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import numbers, texts
from detent.store.query import Page
from detent.store.request import Request


def unjudged(
    session: Session, tenant: str, queues: Sequence[str], kinds: Sequence[str], limit: int, cursor: str | None
) -> Script[Page[Job]]:
    lifecycles, states = [], []
    after, after_job = place_of(cursor)
    for lifecycle, state in unjudged_states((yield from session.lifecycles())):
        lifecycles.append((yield from session.definitions.number(lifecycle.name, lifecycle.version)))
        states.append(state)
    values = {
        "tenant": tenant, "lifecycles": numbers(lifecycles), "states": texts(states),
        "queues": texts(dict.fromkeys(queues)), "kinds": texts(dict.fromkeys(kinds)),
        "after": after, "after_job": after_job, "limit": limit,
    }  # fmt: skip
    rows = yield ask(SQL["unjudged"], values)
    jobs = yield from session.jobs_of(rows)
    return page_of(jobs, [row[0] for row in rows], limit)


def paced(session: Session, tenant: str, rule: str, every: int, requests: Sequence[Request]) -> Script[list[Request]]:
    """The jobs are locked after the rule: whoever paces it too waits, and finds them judged."""
    key = {"tenant": tenant, "rule": rule}
    ((next_at, transaction, moment),) = yield ask(SQL["pace"], key)
    session.heard(transaction, moment)
    yield from session.gather(requests)
    jobs = [session.job(each.tenant, each.job_id) for each in requests]
    timed, next_at = spaced(requests, jobs, next_at=next_at, every=every, now=session.now)
    yield ask(SQL["set_pace"], {**key, "next_at": next_at})
    return timed
