"""Somebody who writes to the database with plain SQL, past Detent and as superuser: what the schema alone lets through.

Each test has the database as it was: whatever a hand writes is in a transaction that is never committed.
"""

from collections.abc import Callable
from typing import Any, Final

import psycopg
from psycopg import sql

from detent.lifecycle import Lifecycle
from tests.store.declared import Columns, Triple, way_to
from tests.store.sqlite import by_hand
from tests.store.sqlite.by_hand import AT

# Columns that only the table of the ended has.
OF_THE_ENDED: Final = ("outcome", "ended_at")
RECORDS, ENDED, EVENTS, JOBS = (f"detent_{name}" for name in ("records", "ended", "events", "jobs"))


def fitting(phase: str, outcome: str | None) -> Columns:
    """What the schema asks of a record in this phase, beside the state."""
    columns = {**by_hand.fitting(phase, outcome), "look_at": None}
    return columns if phase == "ended" else {k: v for k, v in columns.items() if k not in OF_THE_ENDED}


class Hand:
    """Jobs, their events and their records, as rows. What the database refuses leaves nothing behind."""

    def __init__(self, db: "psycopg.Connection[Any]") -> None:
        self.db = db

    def ask(self, statement: str, **values: Any) -> list[Any]:
        with self.db.transaction():
            cursor = self.db.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def number(self, lifecycle: Lifecycle) -> int:
        ((number,),) = self.ask("select lifecycle from detent_lifecycles where name = %(name)s", name=lifecycle.name)
        return int(number)

    def spec(self, lifecycle: Lifecycle, job: int, job_id: str) -> None:
        self.insert(JOBS, {
            "job": job, "tenant": "default", "id": job_id, "kind": "scan", "lifecycle": self.number(lifecycle),
            "policy": 1, "queue": "default", "priority": 0, "payload": b"null",
        })  # fmt: skip

    def event(self, job: int, rev: int, verb: str, source: str | None, target: str) -> None:
        self.insert(EVENTS, event(job, rev, verb, source, target))

    def record(self, lifecycle: Lifecycle, job: int, state: str, **changed: Any) -> None:
        self.insert(RECORDS, self.columns(lifecycle, job, state) | changed)

    def columns(self, lifecycle: Lifecycle, job: int, state: str) -> Columns:
        known = lifecycle.by_name[state]
        return {
            "job": job, "tenant": "default", "queue": "default", "kind": "scan", "lifecycle": self.number(lifecycle),
            "state": state, "created_at": AT, "updated_at": AT, "rev": 1, "payload_digest": "p",
            **fitting(known.phase, known.outcome),
        }  # fmt: skip

    def begin(self, lifecycle: Lifecycle, job: int = 1) -> None:
        first = lifecycle.table.start.leg.state.name
        self.spec(lifecycle, job, f"job-{job}")
        self.event(job, 1, "enqueue", None, first)
        self.record(lifecycle, job, first)

    def bring(self, lifecycle: Lifecycle, state: str, job: int = 1) -> None:
        """A job that came to this state in declared steps."""
        self.begin(lifecycle, job)
        for rev, triple in enumerate(way_to(lifecycle, state), 2):
            self.move(lifecycle, triple, job, rev)

    def move(self, lifecycle: Lifecycle, triple: Triple, job: int = 1, rev: int = 2, **changed: Any) -> None:
        """One step with its event, in one statement, every column as the target's phase wants it or as told."""
        source, verb, target = triple
        known = lifecycle.by_name[target]
        columns = changed or fitting(known.phase, known.outcome)
        written = _inserted(EVENTS, event(job, rev, verb, source, target))
        if columns["phase"] == "ended":
            row = {name: value for name, value in self.columns(lifecycle, job, target).items() if name not in EMPTY}
            end = _inserted(ENDED, row | {"rev": rev} | columns)
            whole = sql.SQL("with e as ({}), r as (delete from detent_records where job = {}) {}")
            self.write(whole.format(written, job, end))
        else:
            step = _updated(job, {"state": target, "rev": rev, **columns})
            self.write(sql.SQL("with e as ({}) {}").format(written, step))

    def update(self, job: int, **columns: Any) -> None:
        self.write(_updated(job, columns))

    def insert(self, table: str, columns: Columns) -> None:
        self.write(_inserted(table, columns))

    def write(self, statement: sql.Composed) -> None:
        with self.db.transaction():
            self.db.execute(statement)


EMPTY: Final = frozenset(fitting("ended", None))


def event(job: int, rev: int, verb: str, source: str | None, target: str) -> Columns:
    return {
        "tenant": "default", "job": job, "rev": rev, "type": "by_hand", "verb": verb, "from_state": source,
        "to_state": target, "at": AT, "actor": "hand", "role": "client", "attempt": 0, "changes": "{}", "version": 1,
    }  # fmt: skip


def refusal(write: Callable[[], object]) -> str | None:
    """What the database answers to a write that it does not take; None: it took it."""
    try:
        write()
    except psycopg.Error as refused:
        if not str(refused.sqlstate).startswith(("DT", "23")):
            raise  # it did not come to that
        return str(refused)
    return None


def _inserted(table: str, columns: Columns) -> sql.Composed:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    values = sql.SQL(", ").join(map(sql.Literal, columns.values()))
    return sql.SQL("insert into {} ({}) values ({})").format(sql.Identifier(table), names, values)


def _updated(job: int, columns: Columns) -> sql.Composed:
    steps = [sql.SQL("{} = {}").format(sql.Identifier(name), value) for name, value in columns.items()]
    return sql.SQL("update detent_records set {} where job = {}").format(sql.SQL(", ").join(steps), job)
