"""Mistakes for the differential test to notice. Each is planted in the SQLite store, or in what all stores share."""

from collections.abc import Callable
from typing import Final

import pytest
from msgspec.structs import replace

from detent.kernel import Event
from detent.store import Keeping, Replies, Request, planning, rows
from detent.store.limits import KeyUse
from detent.store.sqlite import SqliteStore, finding, statements, writing
from detent.store.sqlite.session import Session

Patch = Callable[[pytest.MonkeyPatch], None]


def forget_checkpoints(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(rows.ENCODERS, "checkpoint", lambda value: None)


def forget_late_results(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(planning, "late_result", lambda job, command, refused, now: None)


def forget_receipts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(writing.Batch, "receipt", lambda batch, kept: None)


def forget_notes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(writing.Batch, "note", lambda batch, note: None)


def forget_who_asked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(writing, "event_row", lambda event, number, payload: rows.event_row(nameless(event), number, payload))


def nameless(event: Event) -> Event:
    return replace(event, trace_id=None)


def remember_what_others_changed(patch: pytest.MonkeyPatch) -> None:
    def begin(session: Session, now: int) -> None:
        session.now = now

    patch.setattr(Session, "begin", begin)


def ignore_the_queue_s_order(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(statements.SQL, "due", "select job from detent_records where wake_at <= ? order by job desc limit ?")


def ignore_the_dice(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SqliteStore, "_apply", apply_without_dice)


def apply_without_dice(store: SqliteStore, session: Session, requests: list[Request]) -> Replies:
    planned = planning.plan(requests, session, session.now, lambda: 0.5)
    writing.write(session, planned, Keeping())
    return planned.replies


def purge_what_lives(patch: pytest.MonkeyPatch) -> None:
    kept = statements.SQL["ended_jobs"].replace("and r.ended_at is not null", "and r.phase <> 'ready'")
    patch.setitem(statements.SQL, "ended_jobs", kept)


def count_what_lives(patch: pytest.MonkeyPatch) -> None:
    counting = statements.counting
    patch.setattr(finding, "counting", lambda tables, filters, by: counting(tables, (*filters, "find_live"), by))


def lease_beyond_the_limit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Session, "use", lambda session, tenant, limit_key: KeyUse())
    patch.setattr(Session, "used_up", lambda session, tenant: set())


PLANTED: Final[tuple[Patch, ...]] = (
    forget_checkpoints,
    forget_late_results,
    forget_receipts,
    forget_notes,
    forget_who_asked,
    remember_what_others_changed,
    ignore_the_queue_s_order,
    ignore_the_dice,
    purge_what_lives,
    count_what_lives,
    lease_beyond_the_limit,
)
