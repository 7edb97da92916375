"""Writing a plan. Events go in before the moves they record: the schema lets no move in without its event."""

from itertools import groupby
from operator import itemgetter

from detent.errors import StoreError
from detent.kernel import Change, Event, Job, Note
from detent.kernel.clock import micros
from detent.kernel.job import Spec
from detent.store.keeping import VERBOSE_NOTES, VERBOSE_VERBS, Keeping
from detent.store.planning import Plan
from detent.store.request import Kept
from detent.store.rows import ENCODERS, Row, event_row, job_row, note_row, rate_row, record_row, text
from detent.store.sqlite.session import Session
from detent.store.sqlite.statements import SQL, insert_record, move_record, say


def write(session: Session, plan: Plan, keeping: Keeping) -> None:
    batch = Batch(session, keeping)
    for change, job in plan.changes:
        batch.add(change, job)
    for note in plan.notes:
        batch.note(note)
    for kept in plan.kept:
        batch.receipt(kept)
    batch.rates = [rate_row(each) for each in plan.rates]
    batch.flush()
    session.written(batch.jobs)


class Batch:
    """The rows of a plan, sorted by where they go, so that equal statements run together."""

    def __init__(self, session: Session, keeping: Keeping) -> None:
        self._session = session
        self._keeping = keeping
        self._jobs: list[Row] = []
        self._events: list[Row] = []
        self._details: list[Row] = []
        self._moves: list[tuple[str, Row]] = []  # in the order of the changes: a job may move twice
        self._said: list[tuple[str, Row]] = []
        self._notes: list[Row] = []
        self._receipts: list[Row] = []
        self.rates: list[Row] = []
        self._last_number: int | None = None
        self.jobs: list[tuple[int, Job]] = []  # as they are when all is written

    def add(self, change: Change, job: Job) -> None:
        spec = job.spec
        number = self._session.number(spec.tenant, spec.id) if change.before.rev else self._make(change)
        for event in change.events:
            payload = None if event.payload is None else self._payload(event, number)
            self._events.append(event_row(event, number, payload))
            if event.rev > 1:
                self._move(event, number, spec)
        if change.values:
            names = tuple(change.values)
            row = (number, *(ENCODERS[name](value) for name, value in change.values.items()))
            self._said.append((say(names), row))
        self.jobs.append((number, job))
        for spawned in change.spawned:
            self.add(spawned, spawned.job)

    def note(self, note: Note) -> None:
        expires_at = self._until(self._keeping.verbose_s) if note.kind in VERBOSE_NOTES else None
        number = self._session.number(note.tenant, note.job_id)
        self._notes.append((*note_row(note, number, expires_at), self._keeping.most(note.kind)))

    def receipt(self, kept: Kept) -> None:
        receipt, claimed = kept.receipt, None if kept.claimed is None else text(kept.claimed)
        expires_at = self._until(self._keeping.receipts_s)
        self._receipts.append((*kept.scope, receipt.digest, receipt.job_id, receipt.rev, claimed, expires_at))

    def flush(self) -> None:
        write = self._session.connection.executemany
        for sql, rows in (
            (SQL["insert_job"], self._jobs),
            (SQL["insert_event"], self._events),
            (SQL["insert_detail"], self._details),
        ):
            if rows:
                write(sql, rows)
        self._flush_moves()
        for sql, said in groupby(self._said, key=itemgetter(0)):
            write(sql, [row for _, row in said])
        for sql, rows in (
            (SQL["insert_note"], self._notes),
            (SQL["keep_receipt"], self._receipts),
            (SQL["keep_rate"], self.rates),
        ):
            if rows:
                write(sql, rows)

    def _flush_moves(self) -> None:
        connection = self._session.connection
        before = connection.total_changes()
        for sql, moves in groupby(self._moves, key=itemgetter(0)):
            connection.executemany(sql, [row for _, row in moves])
        if connection.total_changes() - before != len(self._moves):
            raise StoreError(
                f"store {connection.path}: a record is not at the revision it was read at", code="guard_refused"
            )

    def _make(self, change: Change) -> int:
        """A new job: its number, its spec, and its record as the first event leaves it."""
        session, spec = self._session, change.before.spec
        definitions, connection = session.definitions, session.connection
        if self._last_number is None:
            row = connection.one(SQL["last_number"])
            self._last_number = 0 if row is None else row[0]
        self._last_number = number = self._last_number + 1
        session.new_number(spec.tenant, spec.id, number)
        lifecycle = definitions.lifecycle_number(connection, spec.lifecycle, spec.lifecycle_version)
        self._jobs.append((number, *job_row(spec, lifecycle, definitions.policy_number(connection, spec.policy))))
        first = change.events[0]
        self._moves.append((insert_record(tuple(first.changes)), record_row(first, spec, number, lifecycle)))
        if spec.dedupe_key is not None:
            self._moves.append((SQL["take_dedupe_key"], (spec.tenant, spec.kind, spec.dedupe_key, number)))
        return number

    def _payload(self, event: Event, number: int) -> str | None:
        """What goes into the log itself. What is verbose goes beside it."""
        payload = text(event.payload)
        if event.verb not in VERBOSE_VERBS:
            return payload
        self._details.append((number, event.rev, payload, self._until(self._keeping.verbose_s)))
        return None

    def _move(self, event: Event, number: int, spec: Spec) -> None:
        """The columns that the event changed, and what guards them. An end also has an outcome, and frees its key."""
        changes = event.changes
        guard = (event.to_state, event.rev, event.at, number, event.rev - 1)
        if changes.get("phase") != "ended":
            self._moves.append((move_record(tuple(changes)), (*changes.values(), *guard)))
            return
        lifecycle = self._session.lifecycle(spec.lifecycle, spec.lifecycle_version)
        outcome = lifecycle.by_name[event.to_state].outcome
        self._moves.append((move_record((*changes, "outcome")), (*changes.values(), outcome, *guard)))
        if spec.dedupe_key is not None:
            self._moves.append((SQL["free_dedupe_key"], (spec.tenant, spec.kind, spec.dedupe_key, number)))

    def _until(self, kept_s: float) -> int:
        return self._session.now + micros(kept_s)
