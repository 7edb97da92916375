"""Writing a plan: rounds of one statement each. Nearly every plan has one round.

A statement can change a row once. So what becomes of one job in one plan is spread over rounds: its first move in the
first, its second in the next.
"""

from collections.abc import Sequence
from typing import Any

from detent.kernel import Change, Event, Job, Note
from detent.kernel.change import together
from detent.kernel.clock import micros
from detent.store.keeping import VERBOSE_NOTES, VERBOSE_VERBS, Keeping
from detent.store.limits import KeyRate
from detent.store.planning import Plan
from detent.store.postgres.round import Keys, Round
from detent.store.postgres.script import Ask, Script, ask
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import numbers, texts
from detent.store.request import Kept, Key
from detent.store.rows import ENCODERS, Row, concurrency_max_of, job_row, note_row, rate_row, text


class Batch:
    """The rows of a plan, round by round."""

    def __init__(self, session: Session, keeping: Keeping) -> None:
        self._session = session
        self._keeping = keeping
        self._rounds: list[Round] = []
        self._next: dict[Key, int] = {}  # in which round a job can be changed again
        self._begun: set[Key] = set()
        self._freed: dict[tuple[str, str, str], int] = {}  # in which round a dedupe key becomes free
        self._first: Change | None = None  # of those that are alike,
        self._joined: list[Keys] = []  # and whom its rows are for
        self.jobs: dict[Key, Job] = {}  # as they are when all is written

    def add(self, change: Change, job: Job) -> None:
        """The numbers of its definitions have to be known (`know`), or they are missing."""
        spec = job.spec
        key = spec.tenant, spec.id
        self.jobs[key] = job
        if change.like is not None and change.like is self._first and spec.dedupe_key is None and key not in self._next:
            self._join(key)
            return
        self._first, self._joined = None if key in self._next else change.like or change, []
        values = self._encoded(change)
        if change.before.rev == 0:
            self._begin(change, key, values)
        elif change.events:
            self._moves(change, change.events, key, values)
        elif values:
            self._round(key).say(key, values)
        for spawned in change.spawned:
            self.add(spawned, spawned.job)

    def _join(self, key: Key) -> None:
        """The same happens to it as to the first of those that are alike."""
        self._next[key] = len(self._joined)
        for keys in self._joined:
            keys.append(key)

    def rest(self, notes: Sequence[Note], kept: Sequence[Kept]) -> None:
        """Notes and receipts, with the last of the moves; notes on new jobs need their numbers first."""
        if not notes and not kept and self._rounds:
            return
        is_after = not self._rounds or any((note.tenant, note.job_id) in self._begun for note in notes)
        last = self._at(len(self._rounds)) if is_after else self._rounds[-1]
        last.notes = [((note.tenant, note.job_id), self._note(note)) for note in notes]
        last.receipts = sorted([self._receipt(each) for each in kept])  # so that two do not wait in a ring

    @property
    def only(self) -> Round | None:
        """The one round, if one statement can say it all."""
        return self._rounds[0] if len(self._rounds) == 1 and self._rounds[0].is_of_one_tenant else None

    @property
    def first_event(self) -> tuple[Key, Event] | None:
        """By which it can be told, later, whether this was written."""
        return next((each.first_event for each in self._rounds if each.first_event is not None), None)

    def flush(self) -> Script[None]:
        for each in self._rounds:
            each.heard(self._session, (yield each.asked(self._session, reckoned=None)))

    def _begin(self, change: Change, key: Key, values: dict[str, Any]) -> None:
        first, spec = change.events[0], change.before.spec
        lifecycle, policy = self._session.definitions_of(spec)
        columns = first.changes if len(change.events) > 1 else {**first.changes, **values}
        number = 0 if spec.dedupe_key is None else self._freed.get((spec.tenant, spec.kind, spec.dedupe_key), -1) + 1
        self._begun.add(key)
        self._next[key] = number + 1
        row = (*job_row(spec, lifecycle, policy), concurrency_max_of(spec))
        self._at(number).begin(key, first, row, columns)
        if len(change.events) > 1:
            self._moves(change, change.events[1:], key, values)

    def _moves(self, change: Change, events: Sequence[Event], key: Key, values: dict[str, Any]) -> None:
        """Several moves in a row are one step of the record; an end is a step of its own."""
        last = events[-1]
        if last.changes.get("phase") == "ended":
            if len(events) > 1:
                self._moves(change, events[:-1], key, {})
            self._end(change, last, key, values)
            return
        place, columns = self._round(key), dict(last.changes) if len(events) == 1 else together(events)
        log = [(event, self._payload(event, key, place)) for event in events]
        self._joined.append(place.move(key, log, columns | values, _guard(change)))

    def _end(self, change: Change, last: Event, key: Key, values: dict[str, Any]) -> None:
        spec, place = change.before.spec, self._round(key)
        if spec.dedupe_key is not None:
            self._freed[spec.tenant, spec.kind, spec.dedupe_key] = self._next[key] - 1
        lifecycle = self._session.lifecycle(spec.lifecycle, spec.lifecycle_version)
        outcome = lifecycle.by_name[last.to_state].outcome
        columns = {**last.changes, **values, "outcome": outcome}
        self._joined.append(place.end(key, [(last, self._payload(last, key, place))], columns, _guard(change)))

    def _payload(self, event: Event, key: Key, place: Round) -> str | None:
        """What is verbose, and may be dropped, lies apart."""
        payload = None if event.payload is None else text(event.payload)
        if payload is None or event.verb not in VERBOSE_VERBS:
            return payload
        place.details.append((key, (event.rev, payload, self._until(self._keeping.verbose_s))))
        return None

    def _round(self, key: Key) -> Round:
        """The first in which nothing else happens to the job."""
        number = self._next.get(key, 0)
        self._next[key] = number + 1
        return self._at(number)

    def _at(self, number: int) -> Round:
        while len(self._rounds) <= number:
            self._rounds.append(Round())
        return self._rounds[number]

    def _encoded(self, change: Change) -> dict[str, Any]:
        return {name: ENCODERS[name](value) for name, value in change.values.items()} if change.values else {}

    def _note(self, note: Note) -> Row:
        expires_at = self._until(self._keeping.verbose_s) if note.kind in VERBOSE_NOTES else None
        row = note_row(note, 0, expires_at)
        return (row[0], *row[2:], self._keeping.most(note.kind))

    def _receipt(self, kept: Kept) -> Row:
        receipt, claimed = kept.receipt, None if kept.claimed is None else text(kept.claimed)
        expires_at = self._until(self._keeping.receipts_s)
        tenant, verb, job_id, request_id = kept.scope
        return (request_id, tenant, verb, job_id, receipt.digest, receipt.job_id, receipt.rev, claimed, expires_at)

    def _until(self, kept_s: float) -> int:
        return self._session.now + micros(kept_s)


def _guard(change: Change) -> Row:
    """What a move is compared by beside the revision, which does not count what is said without a move."""
    progress = change.before.progress
    return 1 if change.needs_lease else None, None if progress is None else text(progress)


def batch_of(session: Session, plan: Plan, keeping: Keeping) -> Batch:
    batch = Batch(session, keeping)
    for change, job in plan.changes:
        batch.add(change, job)
    batch.rest(plan.notes, plan.kept)
    return batch


def know(session: Session, changes: Sequence[Change]) -> Script[None]:
    """What new jobs are defined by, those that come of others too."""
    for change in changes:
        if change.before.rev == 0:
            yield from session.know(change.before.spec)
        if change.spawned:
            yield from know(session, change.spawned)


def write(session: Session, plan: Plan, keeping: Keeping) -> Script[None]:
    """Inside a transaction."""
    if plan.changes or plan.notes or plan.kept:
        yield from know(session, [change for change, _ in plan.changes])
        batch = batch_of(session, plan, keeping)
        session.wrote(batch.first_event, batch.jobs)
        yield from batch.flush()
    if plan.rates:
        yield _rates(plan.rates)


def _rates(kept: Sequence[KeyRate]) -> Ask:
    tenants, keys, contents, full_untils, expiries = zip(*map(rate_row, kept), strict=True)
    named = {"tenants": texts(tenants), "keys": texts(keys), "contents": texts(contents)}
    moments = {"full_untils": numbers(full_untils), "expiries": numbers(expiries)}
    return ask(SQL["keep_rates"], named | moments)
