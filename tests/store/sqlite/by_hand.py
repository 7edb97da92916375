"""Somebody who writes to a store's file with plain SQL, past Detent: what the schema alone lets through."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import apsw

from detent.lifecycle import Lifecycle
from tests.store.declared import Columns, Triple, way_to
from tests.store.sqlite.files import opened

AT: Final = 1_738_425_600_000_000
# What the schema asks of a record in each phase, beside the state.
FITTING: Final[dict[str, Columns]] = {
    "parked": {},
    "ready": {"claim_at": AT, "order_at": AT},
    "held": {"owner": "w", "lease_expires_at": AT},
    "active": {"owner": "w", "lease_expires_at": AT},
    "ended": {"ended_at": AT},
}
DIGESTS: Final[dict[str | None, Columns]] = {
    None: {},
    "success": {"result_digest": "r"},
    "failure": {"error_digest": "e"},
    "cancelled": {},
}
EMPTY: Final[Columns] = dict.fromkeys(
    ("claim_at", "order_at", "wake_at", "owner", "lease_expires_at", "ended_at", "result_digest", "error_digest")
)


class Hand:
    """One job, its events and its record, as rows. Every method raises what SQLite raises, and then wrote nothing."""

    def __init__(self, path: Path) -> None:
        with opened(path):
            pass  # the schema is made, and the lifecycles are registered
        self.db = apsw.Connection(str(path))
        self.db.execute("pragma synchronous = off")

    def number(self, lifecycle: Lifecycle) -> int:
        return self.ask_number("select lifecycle from detent_lifecycles where name = ?", lifecycle.name)

    def ask_number(self, sql: str, *bindings: Any) -> int:
        ((number,),) = self.db.execute(sql, bindings).fetchall()
        assert isinstance(number, int)
        return number

    def event(self, job: int, rev: int, verb: str, source: str | None, target: str) -> None:
        self.insert("detent_events", {
            "tenant": "default", "job": job, "rev": rev, "type": "by_hand", "verb": verb, "from_state": source,
            "to_state": target, "at": AT, "actor": "hand", "role": "client", "attempt": 0, "changes": "{}",
            "version": 1,
        })  # fmt: skip

    def spec(self, lifecycle: Lifecycle, job: int, job_id: str) -> None:
        self.insert("detent_jobs", {
            "job": job, "tenant": "default", "id": job_id, "kind": "scan", "lifecycle": self.number(lifecycle),
            "policy": 1, "queue": "default", "priority": 0, "payload": b"null",
        })  # fmt: skip

    def record(self, lifecycle: Lifecycle, job: int, state: str, **changed: Any) -> None:
        known = lifecycle.by_name[state]
        self.insert("detent_records", {
            "job": job, "tenant": "default", "queue": "default", "kind": "scan", "lifecycle": self.number(lifecycle),
            "state": state, "created_at": AT, "updated_at": AT, "rev": 1, "payload_digest": "p",
            **fitting(known.phase, known.outcome), **changed,
        })  # fmt: skip

    def begin(self, lifecycle: Lifecycle, job: int = 1) -> None:
        first = lifecycle.table.start.leg.state.name
        self.spec(lifecycle, job, f"job-{job}")
        self.event(job, 1, "enqueue", None, first)
        self.record(lifecycle, job, first)

    def move(self, lifecycle: Lifecycle, triple: Triple, job: int = 1, **changed: Any) -> None:
        """One step with its event, and with every column as the target's phase wants it, unless told otherwise."""
        source, verb, target = triple
        known = lifecycle.by_name[target]
        with self.db:
            rev = self.ask_number("select rev from detent_records where job = ?", job)
            self.event(job, rev + 1, verb, source, target)
            self.update(job, **{"state": target, "rev": rev + 1, **fitting(known.phase, known.outcome), **changed})

    def bring(self, lifecycle: Lifecycle, state: str, job: int = 1) -> None:
        """A job that came to this state in declared steps."""
        self.begin(lifecycle, job)
        for triple in way_to(lifecycle, state):
            self.move(lifecycle, triple, job)

    def update(self, job: int, **columns: Any) -> None:
        assignments = ", ".join(f"{name} = :{name}" for name in columns)
        self.db.execute(f"update detent_records set {assignments} where job = :job", columns | {"job": job})

    def insert(self, table: str, columns: Columns) -> None:
        marks = ", ".join(f":{name}" for name in columns)
        self.db.execute(f"insert into {table} ({', '.join(columns)}) values ({marks})", columns)

    def row(self, job: int = 1) -> Columns:
        cursor = self.db.execute("select * from detent_records where job = ?", (job,))
        names = [name for name, _ in cursor.get_description()]
        return dict(zip(names, cursor.fetchall()[0], strict=True))


def refusal(write: Callable[[], object]) -> str | None:
    """What the file answers to a write that it does not take; None: it took it."""
    try:
        write()
    except apsw.ConstraintError as refused:
        return str(refused)
    return None


def fitting(phase: str, outcome: str | None) -> Columns:
    return EMPTY | {"phase": phase, "outcome": outcome} | FITTING[phase] | DIGESTS[outcome]
