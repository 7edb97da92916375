"""One statement's worth of a plan: its rows by where they go, and how they become the values of the statement."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from detent.kernel import Event
from detent.store.postgres.columns import BEGUN, Names, columns_of
from detent.store.postgres.composing import Kind, Part, composed, several, single
from detent.store.postgres.script import Ask
from detent.store.postgres.values import array, in_text, texts
from detent.store.request import Key
from detent.store.rows import Row, text

if TYPE_CHECKING:
    from detent.store.postgres.session import Session

TOLERANCE_US: Final = 250_000  # between the moment that was reckoned and the store's own
_TOLERANCE: Final = str(TOLERANCE_US)
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

    def asked(self, session: "Session", *, reckoned: int | None) -> Ask:
        rows = self._records(session)
        if self._events or self.details or self.notes or self.receipts:
            rows += self._log(session)
        values = self._common(session, reckoned)
        parts = [_part(*each, values) for each in rows]
        form = composed(tuple(parts), is_guarded=reckoned is not None)
        return Ask(form.sql, tuple([values[place] for place in form.order]))

    def heard(self, session: "Session", rows: list[Row]) -> None:
        ((_, begun, transaction, now),) = rows
        session.numbered(zip([key for key, _, _ in self._begun], begun or (), strict=True))
        session.heard(transaction, now)

    @property
    def is_of_one_tenant(self) -> bool:
        return len({tenant for tenant, _ in self._queues}) <= 1

    def _common(self, session: "Session", reckoned: int | None) -> list[str | None]:
        """What a statement may name beside its rows, in the order of `COMMON`."""
        queues = texts([queue for _, queue in self._queues]) if self._queues else None
        tenant = next(iter(self._queues))[0] if self._queues else None
        return [in_text(session.clock), in_text(reckoned), _TOLERANCE, tenant, queues, str(self._wanted)]

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
            made.append(self._begun_rows())
        for block, sets in (("move_record", self._moved), ("end_records", self._ended), ("say", self._said)):
            for names, steps in sets.items():
                # In the order of their numbers: two that move the same jobs do not wait for each other in a ring.
                rows = sorted([(session.number(key), *row) for key, row in steps])
                made.append((block, names, rows))
        return made

    def _begun_rows(self) -> Filled:
        more = set().union(*[columns.keys() - _ALWAYS for _, _, columns in self._begun])
        if not more:
            return "insert_record", BEGUN, [(*row, *map(said.get, BEGUN)) for _, row, said in self._begun]
        names = (*BEGUN, *sorted(more))
        rows = [(*row, *[said.get(name, _DEFAULTS.get(name)) for name in names]) for _, row, said in self._begun]
        return "insert_record", names, rows

    def _log(self, session: "Session") -> list[Filled]:
        number = session.number
        rows: list[Filled] = [
            ("insert_event", (), [_event_row(event, number(key), said) for key, event, said in self._events]),
            ("insert_detail", (), [(number(key), *row) for key, row in self.details]),
            ("insert_note", (), [(number(key), *row) for key, row in self.notes]),
            ("keep_receipt", (), self.receipts),
        ]
        return [each for each in rows if each[2]]


def _part(block: str, names: Names, rows: list[Row], values: list[str | None]) -> Part:
    """Column by column: as an array, or as one value if it is the same in every row. Its values are added to those."""
    if len(rows) == 1:
        part = single(block, names, tuple([value is not None for value in rows[0]]))
        values += [
            value if value.__class__ is str else in_text(value)
            for value, how in zip(rows[0], part.kinds, strict=True)
            if how == "value"
        ]
        return part
    columns = list(zip(*rows, strict=True))
    part = several(block, names, tuple([_kind(column) for column in columns]))
    typed = columns_of(block, names)
    for (_, kind), column, how in zip(typed, columns, part.kinds, strict=True):
        if how != "null":
            values.append(array(kind, column) if how == "array" else in_text(column[0]))
    return part


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
