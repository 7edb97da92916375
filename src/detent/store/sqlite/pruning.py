"""Removal: ended jobs go with everything that was kept of them, in bounded batches, by their age or by name."""

from collections.abc import Sequence

from detent.kernel.clock import micros
from detent.store.query import Pruned, Retention
from detent.store.rows import Row, encode
from detent.store.sqlite.session import Session
from detent.store.sqlite.statements import SQL
from detent.store.tokens import TOKEN_KEPT_S


def prune(session: Session, tenant: str, retention: Retention, limit: int) -> Pruned:
    numbers = _old(session, tenant, retention, limit)
    removed = _remove(session, numbers)
    expired = {
        name: _expired(session, name, limit)
        for name in ("expired_details", "expired_notes", "expired_receipts", "expired_rates")
    }
    expired["expired_tokens"] = _expired(session, "expired_tokens", limit, kept_s=TOKEN_KEPT_S)
    return Pruned(
        jobs=removed.jobs,
        events=removed.events,
        details=removed.details + expired["expired_details"] + expired["expired_notes"],
        receipts=expired["expired_receipts"],
        is_done=len(numbers) < limit and max(expired.values()) < limit,
    )


def purge(session: Session, tenant: str, job_ids: Sequence[str]) -> Pruned:
    return _remove(session, session.connection.execute(SQL["ended_jobs"], (tenant, encode(job_ids))))


def _remove(session: Session, numbers: Sequence[Row]) -> Pruned:
    """Ended jobs, by number. The record goes first: while it is there, the schema lets nothing else of the job go."""
    jobs = _each(session, "remove_record", numbers)
    details, events = _each(session, "remove_details", numbers), _each(session, "remove_events", numbers)
    for name in ("remove_notes", "remove_contents", "remove_receipts", "remove_job"):
        _each(session, name, numbers)
    session.forget()
    return Pruned(jobs=jobs, events=events, details=details)


def _old(session: Session, tenant: str, retention: Retention, limit: int) -> list[Row]:
    found: list[Row] = []
    for outcome, kept_s in (
        ("success", retention.successes_s),
        ("failure", retention.others_s),
        ("cancelled", retention.others_s),
    ):
        before = session.now - micros(kept_s)
        found += session.connection.execute(SQL["old_jobs"], (tenant, outcome, before, limit - len(found)))
    return found


def _each(session: Session, name: str, numbers: Sequence[Row]) -> int:
    before = session.connection.total_changes()
    session.connection.executemany(SQL[name], numbers)
    return session.connection.total_changes() - before


def _expired(session: Session, name: str, limit: int, *, kept_s: float = 0) -> int:
    before = session.connection.total_changes()
    session.connection.execute(SQL[name], (session.now - micros(kept_s), limit))
    return session.connection.total_changes() - before
