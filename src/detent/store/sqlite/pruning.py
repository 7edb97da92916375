"""Retention: ended jobs go with everything that was kept of them, in bounded batches."""

from detent.kernel.clock import micros
from detent.store.query import Pruned, Retention
from detent.store.sqlite.session import Session
from detent.store.sqlite.statements import SQL


def prune(session: Session, tenant: str, retention: Retention, limit: int) -> Pruned:
    numbers = _old(session, tenant, retention, limit)
    before = session.connection.total_changes()
    session.connection.executemany(SQL["remove_record"], numbers)
    removed = session.connection.total_changes() - before
    counts = {name: _each(session, name, numbers) for name in ("remove_details", "remove_events")}
    for name in ("remove_notes", "remove_contents", "remove_receipts", "remove_job"):
        _each(session, name, numbers)
    session.forget()
    expired = {
        name: _expired(session, name, limit) for name in ("expired_details", "expired_notes", "expired_receipts")
    }
    return Pruned(
        jobs=removed,
        events=counts["remove_events"],
        details=counts["remove_details"] + expired["expired_details"] + expired["expired_notes"],
        receipts=expired["expired_receipts"],
        is_done=len(numbers) < limit and max(expired.values()) < limit,
    )


def _old(session: Session, tenant: str, retention: Retention, limit: int) -> list[tuple[int]]:
    found: list[tuple[int]] = []
    for outcome, kept_s in (
        ("success", retention.successes_s),
        ("failure", retention.others_s),
        ("cancelled", retention.others_s),
    ):
        before = session.now - micros(kept_s)
        found += session.connection.execute(SQL["old_jobs"], (tenant, outcome, before, limit - len(found)))
    return found


def _each(session: Session, name: str, numbers: list[tuple[int]]) -> int:
    before = session.connection.total_changes()
    session.connection.executemany(SQL[name], numbers)
    return session.connection.total_changes() - before


def _expired(session: Session, name: str, limit: int) -> int:
    before = session.connection.total_changes()
    session.connection.execute(SQL[name], (session.now, limit))
    return session.connection.total_changes() - before
