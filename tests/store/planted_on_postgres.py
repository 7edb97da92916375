"""Mistakes for the differential test to notice, each planted in the PostgreSQL store."""

from collections.abc import Sequence
from typing import Final

import pytest

from detent.kernel import Event, Note
from detent.store import JobQuery, Request, planning
from detent.store.dice import Dice
from detent.store.planning import Plan
from detent.store.postgres import at_once, claiming, composing, finding, reflex, statements
from detent.store.postgres import round as rounds
from detent.store.postgres.memory import Memory
from detent.store.postgres.script import Script
from detent.store.postgres.session import Missing, Session
from detent.store.postgres.writing import Batch
from detent.store.request import Kept
from detent.store.rows import Row
from tests.store.planted import Patch, nameless

LOOK: Final = claiming.statement.__wrapped__
AT_ONCE: Final = at_once._statement.__wrapped__


def change_statement(patch: pytest.MonkeyPatch, name: str, old: str, new: str) -> None:
    """A statement that is put together from it is not taken from those that were put together before."""
    assert old in statements.SQL[name], "it was changed: so must this be"
    patch.setitem(statements.SQL, name, statements.SQL[name].replace(old, new))
    patch.setattr(rounds, "composed", composing.composed.__wrapped__)
    patch.setattr(claiming, "statement", LOOK)
    patch.setattr(at_once, "_statement", AT_ONCE)


def forget_receipts(patch: pytest.MonkeyPatch) -> None:
    rest = Batch.rest

    def without(batch: Batch, notes: Sequence[Note], kept: Sequence[Kept]) -> None:
        rest(batch, notes, ())

    patch.setattr(Batch, "rest", without)


def forget_notes(patch: pytest.MonkeyPatch) -> None:
    rest = Batch.rest

    def without(batch: Batch, notes: Sequence[Note], kept: Sequence[Kept]) -> None:
        rest(batch, (), kept)

    patch.setattr(Batch, "rest", without)


def forget_who_asked(patch: pytest.MonkeyPatch) -> None:
    event_row = rounds.event_row

    def row(event: Event, payload: str | None) -> Row:
        return event_row(nameless(event), payload)

    patch.setattr(rounds, "event_row", row)


def ignore_the_dice(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Dice, "__call__", lambda dice: 0.5)


def throw_the_dice_again_to_plan_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Dice, "again", lambda dice: None)


def refuse_on_what_it_remembers(patch: pytest.MonkeyPatch) -> None:
    def decide(session: Session, requests: Sequence[Request], memory: Memory, dice: Dice) -> Plan | None:
        for request in requests:
            known = None if request.is_fresh else memory.get((request.tenant, request.job_id))
            if known is not None:
                session.recall((request.tenant, request.job_id), known)
        try:
            return planning.plan(requests, reflex._Blind(session), session.now, dice)
        except Missing:
            return None

    patch.setattr(reflex, "decide", decide)


def write_without_comparing(patch: pytest.MonkeyPatch) -> None:
    change_statement(patch, "move_record", "and r.rev = k.from_rev", "")
    change_statement(patch, "end_records", "and r.rev = k.from_rev", "")
    change_statement(patch, "insert_event", "from {rows} k", "from {rows} k on conflict do nothing")


def fill_full_queues(patch: pytest.MonkeyPatch) -> None:
    change_statement(patch, "unlimited", "q.depth_max is not null", "false")


def look_at_the_newest_first(patch: pytest.MonkeyPatch) -> None:
    change_statement(patch, "due", "order by r.look_at, r.job", "order by r.job desc")


def claim_the_newest_first(patch: pytest.MonkeyPatch) -> None:
    change_statement(patch, "lane", "order by i.order_at, i.job", "order by i.job desc")


def look_too_soon_at_renewed_leases(patch: pytest.MonkeyPatch) -> None:
    change_statement(patch, "look_again", "wake_at > look_at", "wake_at < look_at")


def prune_a_moment_early(patch: pytest.MonkeyPatch) -> None:
    change_statement(patch, "old_jobs", "r.ended_at < k.before", "r.ended_at <= k.before")


def count_what_lives(patch: pytest.MonkeyPatch) -> None:
    def records(session: Session, query: JobQuery) -> Script[str]:
        yield from ()
        return "live"

    patch.setattr(finding, "_records", records)


def lease_beyond_the_limit(patch: pytest.MonkeyPatch) -> None:
    change_statement(patch, "key_uses", "count(*) as leased", "0 as leased")


PLANTED: Final[tuple[Patch, ...]] = (
    forget_receipts,
    forget_notes,
    forget_who_asked,
    ignore_the_dice,
    throw_the_dice_again_to_plan_again,
    refuse_on_what_it_remembers,
    write_without_comparing,
    fill_full_queues,
    look_at_the_newest_first,
    claim_the_newest_first,
    look_too_soon_at_renewed_leases,
    prune_a_moment_early,
    count_what_lives,
    lease_beyond_the_limit,
)
