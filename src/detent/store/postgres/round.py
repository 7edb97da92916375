"""One statement's worth of a plan: its rows by where they go, and how they become the values of the statement."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from detent.kernel import Event
from detent.store.postgres.columns import BEGUN, Names, columns_of, labels, optional
from detent.store.postgres.composing import Kind, Part, composed
from detent.store.postgres.script import Script, ask
from detent.store.postgres.values import array, texts
from detent.store.request import Key
from detent.store.rows import Row, text

if TYPE_CHECKING:
    from detent.store.postgres.session import Session

TOLERANCE_US: Final = 250_000  # between the moment that was reckoned and the store's own
_ALWAYS: Final = frozenset(BEGUN)
_DEFAULTS: Final = dict.fromkeys(("attempt", "failures", "crashes", "interruptions", "retries"), 0)
Steps = dict[Names, list[tuple[Key, Row]]]
Filled = tuple[str, Names, list[Row]]  # a block, the columns of the record that it sets, and its rows


class Round:
    """Jobs are named by their keys until it is written: those of new ones have no number before."""

    def __init__(self) -> None:
        self.first_event: tuple[Key, Event] | None = None
        self.details: list[tuple[Key, Row]] = []
        self.notes: list[tuple[Key, Row]] = []
        self.receipts: list[Row] = []
        self._begun: list[tuple[Key, Row, Mapping[str, Any]]] = []
        self._moved: Steps = {}
        self._ended: Steps = {}
        self._said: Steps = {}
        self._events: list[tuple[Key, Event, str | None]] = []
        self._queues: set[Key] = set()

    def begin(self, key: Key, first: Event, spec: Row, columns: Mapping[str, Any]) -> None:
        self._first(key, first)
        self._queues.add((spec[4], spec[5]))
        self._begun.append((key, (*spec, *_first_row(first)), columns))

    def move(self, key: Key, event: Event, columns: Mapping[str, Any], payload: str | None, guard: Row) -> None:
        """`guard`: whether it needs the lease, and what had been said of the job when it was decided."""
        self._step(self._moved, key, event, columns, payload, guard)

    def end(self, key: Key, event: Event, columns: Mapping[str, Any], payload: str | None, guard: Row) -> None:
        self._step(self._ended, key, event, columns, payload, guard)

    def say(self, key: Key, columns: Mapping[str, Any]) -> None:
        self._said.setdefault(tuple(columns), []).append((key, tuple(columns.values())))

    def write(self, session: "Session", *, reckoned: int | None) -> Script[None]:
        values: dict[str, Any] = {"clock": session.clock, "wanted": self._wanted}
        if reckoned is not None:
            values |= {"reckoned": reckoned, "tolerance": TOLERANCE_US} | _queues_of(self._queues)
        rows = self._records(session)
        if self._events or self.details or self.notes or self.receipts:
            rows += self._log(session)
        parts = [_part(f"p{place}_", *each, values) for place, each in enumerate(rows)]
        sql = composed(tuple(parts), is_guarded=reckoned is not None)
        ((_, begun, transaction, now),) = yield ask(sql, values)
        session.numbered(zip([key for key, _, _ in self._begun], begun or (), strict=True))
        session.heard(transaction, now)

    def _first(self, key: Key, event: Event) -> None:
        if self.first_event is None:
            self.first_event = key, event

    def _step(
        self,
        steps: Steps,
        key: Key,
        event: Event,
        columns: Mapping[str, Any],
        payload: str | None,
        guard: Row,
    ) -> None:
        self._first(key, event)
        row = (event.rev, event.to_state, event.at, *guard, *columns.values())
        steps.setdefault(tuple(columns), []).append((key, row))
        self._events.append((key, event, payload))

    @property
    def _wanted(self) -> int:
        changed = [rows for sets in (self._moved, self._ended, self._said) for rows in sets.values()]
        return sum(map(len, changed)) + len(self.receipts)

    def _records(self, session: "Session") -> list[Filled]:
        made: list[Filled] = []
        if self._begun:
            names = self._begun_names()
            rows = [(*row, *[said.get(name, _DEFAULTS.get(name)) for name in names]) for _, row, said in self._begun]
            made.append(("insert_record", names, rows))
        for block, sets in (("move_record", self._moved), ("end_records", self._ended), ("say", self._said)):
            for names, steps in sets.items():
                # In the order of their numbers: two that move the same jobs do not wait for each other in a ring.
                rows = sorted([(session.number(key), *row) for key, row in steps])
                made.append((block, names, rows))
        return made

    def _begun_names(self) -> Names:
        more = set().union(*[columns.keys() - _ALWAYS for _, _, columns in self._begun])
        return (*BEGUN, *sorted(more)) if more else BEGUN

    def _log(self, session: "Session") -> list[Filled]:
        number = session.number
        rows: list[Filled] = [
            ("insert_event", (), [_event_row(event, number(key), said) for key, event, said in self._events]),
            ("insert_detail", (), [(number(key), *row) for key, row in self.details]),
            ("insert_note", (), [(number(key), *row) for key, row in self.notes]),
            ("keep_receipt", (), self.receipts),
        ]
        return [each for each in rows if each[2]]


def _part(prefix: str, block: str, names: Names, rows: list[Row], values: dict[str, Any]) -> Part:
    """Column by column: as an array, or as one value if it is the same in every row. The first is always an array."""
    called = labels(block, names, prefix)
    if len(rows) == 1:
        may_lack = optional(block, names)
        kinds: list[Kind] = [
            "value" if value is not None or is_optional else "null"
            for value, is_optional in zip(rows[0], may_lack, strict=True)
        ]
        values.update(zip(called, rows[0], strict=True))
    else:
        columns = list(zip(*rows, strict=True))
        kinds = [
            "array" if is_optional else _kind(column)
            for column, is_optional in zip(columns, optional(block, names), strict=True)
        ]
        typed = columns_of(block, names)
        for label, (_, kind), column, how in zip(called, typed, columns, kinds, strict=True):
            values[label] = array(kind, column) if how == "array" else column[0]
    kinds[0] = "array"
    values[called[0]] = array(columns_of(block, names)[0][1], [row[0] for row in rows])
    return Part(block, names, tuple(kinds))


def _kind(column: Row) -> Kind:
    first = column[0]
    if column.count(first) != len(column):
        return "array"
    return "null" if first is None else "value"


def _first_row(first: Event) -> Row:
    payload = None if first.payload is None else text(first.payload)
    return (
        first.type, first.to_state, first.at, first.actor, first.role, first.worker, first.attempt, first.request_id,
        first.trace_id, first.cause, text(first.changes), payload, first.version,
    )  # fmt: skip


def _event_row(event: Event, number: int, payload: str | None) -> Row:
    return (
        number, event.tenant, event.rev, event.type, event.verb, event.from_state, event.to_state, event.at,
        event.actor, event.role, event.worker, event.attempt, event.request_id, event.trace_id, event.cause,
        text(event.changes), payload, event.version,
    )  # fmt: skip


def _queues_of(queues: set[Key]) -> dict[str, Any]:
    return {
        "guarded_tenants": texts([tenant for tenant, _ in queues]),
        "guarded_queues": texts([queue for _, queue in queues]),
    }
