"""Removal: ended jobs go with everything that was kept of them, in bounded batches, by their age or by name."""

from collections.abc import Sequence

from detent.kernel.clock import micros
from detent.store.postgres.script import Script, ask
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import numbers, texts
from detent.store.query import Pruned, Retention
from detent.store.rows import Row
from detent.store.tokens import TOKEN_KEPT_S


def prune(session: Session, tenant: str, retention: Retention, limit: int) -> Script[Pruned]:
    yield from session.look_at_clock()
    kept = {"success": retention.successes_s, "failure": retention.others_s, "cancelled": retention.others_s}
    befores = numbers([session.now - micros(kept_s) for kept_s in kept.values()])
    asked = {"tenant": tenant, "outcomes": texts(kept), "befores": befores, "limit": limit}
    jobs = yield ask(SQL["old_jobs"], asked)
    removed = yield from _remove(jobs)
    details = yield from _count("expired_details", {"now": session.now, "limit": limit})
    notes = yield from _count("expired_notes", {"now": session.now, "limit": limit})
    receipts = yield from _count("expired_receipts", {"now": session.now, "limit": limit})
    rates = yield from _count("expired_rates", {"now": session.now, "limit": limit})
    over = {"now": session.now - micros(TOKEN_KEPT_S), "limit": limit}
    tokens = yield from _count("expired_tokens", over)
    return Pruned(
        jobs=removed.jobs,
        events=removed.events,
        details=removed.details + details + notes,
        receipts=receipts,
        is_done=max(len(jobs), details, notes, receipts, rates, tokens) < limit,
    )


def purge(session: Session, tenant: str, job_ids: Sequence[str]) -> Script[Pruned]:
    jobs = yield ask(SQL["ended_jobs"], {"tenant": tenant, "ids": texts(job_ids)})
    return (yield from _remove(jobs))


def _remove(jobs: Sequence[Row]) -> Script[Pruned]:
    """Ended jobs, by number. The record goes first: while it is there, the schema lets nothing else of the job go."""
    if not jobs:
        return Pruned()
    meant = {"jobs": numbers([number for (number,) in jobs])}
    removed = yield from _count("remove_record", meant)
    details = yield from _count("remove_details", meant)
    events = yield from _count("remove_events", meant)
    for name in ("remove_notes", "remove_receipts", "remove_job"):
        yield ask(SQL[name], meant)
    return Pruned(jobs=removed, events=events, details=details)


def _count(name: str, values: dict[str, int] | dict[str, str]) -> Script[int]:
    """How many were removed."""
    ((count,),) = yield ask(SQL[name], values)
    return int(count)
