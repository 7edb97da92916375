"""One statement's worth of a plan: its rows by where they go, and how they become the values of the statement."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from detent.kernel import Event
from detent.store.postgres.columns import BEGUN, Columns, Names, columns_of
from detent.store.postgres.composing import Kind, Part, composed, grouped, several, single
from detent.store.postgres.script import Ask
from detent.store.postgres.values import array, in_text, numbers, texts
from detent.store.request import Key
from detent.store.rows import Row, text

if TYPE_CHECKING:
    from detent.store.postgres.session import Session

TOLERANCE_US: Final = 250_000  # between the moment that was reckoned and the store's own
SHARED_MAX: Final = 8  # rows that are worth sharing, and jobs to each that make it so
_TOLERANCE: Final = str(TOLERANCE_US)
_ALWAYS: Final = frozenset(BEGUN)
_IN_ORDER: Final = frozenset(("move_record", "end_records", "say"))
_first: Final = itemgetter(0)
_DEFAULTS: Final = dict.fromkeys(("attempt", "failures", "crashes", "interruptions", "retries"), 0)
Keys = list[Key]
Logged = tuple[Event, str | None]  # with its payload in text
Steps = dict[Names, list[tuple[Keys, Row]]]  # jobs that are alike have one row
# A block, the columns of the record that it sets, and its rows: all but their first values, which may be many to a row.
Filled = tuple[str, Names, list[tuple[list[Any], Row]]]


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
        self._events: list[tuple[Keys, Event, str | None]] = []
        self._queues: set[Key] = set()
        self._numbers: dict[int, list[int]] = {}

    def begin(self, key: Key, first: Event, spec: Row, columns: Mapping[str, Any]) -> None:
        self._first(key, first)
        self._queues.add((spec[4], spec[5]))
        self._begun.append((key, (*spec, *_first_row(first)), columns))

    def move(self, key: Key, log: Sequence[Logged], columns: Mapping[str, Any], guard: Row) -> Keys:
        """`guard`: whether it needs the lease, and what had been said of the job when it was decided.

        Jobs of which the same is to be said join the keys that come back.
        """
        return self._step(self._moved, key, log, columns, guard)

    def end(self, key: Key, log: Sequence[Logged], columns: Mapping[str, Any], guard: Row) -> Keys:
        return self._step(self._ended, key, log, columns, guard)

    def say(self, key: Key, columns: Mapping[str, Any]) -> None:
        self._said.setdefault(tuple(columns), []).append(([key], tuple(columns.values())))

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

    def _step(self, steps: Steps, key: Key, log: Sequence[Logged], columns: Mapping[str, Any], guard: Row) -> Keys:
        (first, _), (last, _) = log[0], log[-1]
        self._first(key, first)
        row, keys = (first.rev - 1, last.rev, last.to_state, last.at, *guard, *columns.values()), [key]
        steps.setdefault(tuple(columns), []).append((keys, row))
        self._events += [(keys, event, payload) for event, payload in log]
        return keys

    @property
    def _wanted(self) -> int:
        steps = [each for sets in (self._moved, self._ended, self._said) for rows in sets.values() for each in rows]
        return sum([len(keys) for keys, _ in steps]) + len(self.receipts)

    def _records(self, session: "Session") -> list[Filled]:
        made: list[Filled] = []
        if self._begun:
            made.append(self._begun_rows())
        for block, sets in (("move_record", self._moved), ("end_records", self._ended), ("say", self._said)):
            made += [
                (block, names, [(self._numbered(session, keys), row) for keys, row in rows])
                for names, rows in sets.items()
            ]
        return made

    def _numbered(self, session: "Session", keys: Keys) -> list[int]:
        """The numbers of these jobs: a list of their own for each list of keys, which several rows may share."""
        known = self._numbers.get(id(keys))
        if known is None:
            known = self._numbers[id(keys)] = sorted(session.numbers(keys))
        return known

    def _begun_rows(self) -> Filled:
        more = set().union(*[columns.keys() - _ALWAYS for _, _, columns in self._begun])
        if not more:
            return (
                "insert_record",
                BEGUN,
                [([row[0]], (*row[1:], *map(said.get, BEGUN))) for _, row, said in self._begun],
            )
        names = (*BEGUN, *sorted(more))
        rows = [(row, [said.get(name, _DEFAULTS.get(name)) for name in names]) for _, row, said in self._begun]
        return "insert_record", names, [([row[0]], (*row[1:], *said)) for row, said in rows]

    def _log(self, session: "Session") -> list[Filled]:
        logged = [(self._numbered(session, keys), event_row(event, said)) for keys, event, said in self._events]
        rows: list[Filled] = [
            ("insert_event", (), logged),  # by one insert, so that they are numbered in their order
            ("insert_detail", (), [(session.numbers([key]), row) for key, row in self.details]),
            ("insert_note", (), [(session.numbers([key]), row) for key, row in self.notes]),
            ("keep_receipt", (), [([row[0]], row[1:]) for row in self.receipts]),
        ]
        return [each for each in rows if each[2]]


def _part(block: str, names: Names, rows: list[tuple[list[Any], Row]], values: list[str | None]) -> Part:
    """Column by column: as an array, or as one value if it is the same in every row. Its values are added to those."""
    firsts, row = rows[0]
    if len(rows) > 1 and block == "insert_event" and _are_shared(rows):
        return _grouped(rows, block, names, values)
    if len(rows) > 1:
        return _several([(first, *row) for firsts, row in rows for first in firsts], block, names, values)
    if len(firsts) > 1:
        return _alike(firsts, row, block, names, values)
    part = single(block, names, (True, *[value is not None for value in row]))
    values += _texts((firsts[0], *row), part)
    return part


def _alike(firsts: list[Any], row: Row, block: str, names: Names, values: list[str | None]) -> Part:
    """Only the first column differs."""
    part = several(block, names, ("array", *["null" if value is None else "value" for value in row]))
    values.append(array(columns_of(block, names)[0][1], firsts))
    values += _texts(row, part)
    return part


def _are_shared(rows: list[tuple[list[Any], Row]]) -> bool:
    """Whether few rows are for many jobs: a claim that starts a hundred has two events for each."""
    return len(rows) <= SHARED_MAX and sum([len(firsts) for firsts, _ in rows]) > SHARED_MAX * len(rows)


def _grouped(rows: list[tuple[list[Any], Row]], block: str, names: Names, values: list[str | None]) -> Part:
    """Rows for the same jobs name their group, so that neither is written out for each of the other."""
    groups = {id(firsts): firsts for firsts, _ in rows}
    places = {group: place for place, group in enumerate(groups)}
    columns = list(zip(*[row for _, row in rows], strict=True))
    part = grouped(block, names, ("groups", *[_kind(column) for column in columns]))
    values.append(numbers([job for firsts in groups.values() for job in firsts]))
    values.append(numbers([place for place, firsts in enumerate(groups.values()) for _ in firsts]))
    values.append(numbers([places[id(firsts)] for firsts, _ in rows]))
    _add_columns(columns, columns_of(block, names)[1:], part.kinds[1:], values)
    return part


def _add_columns(columns: list[Row], typed: Columns, kinds: Sequence[Kind], values: list[str | None]) -> None:
    for (_, kind), column, how in zip(typed, columns, kinds, strict=True):
        if how != "null":
            values.append(array(kind, column) if how == "array" else in_text(column[0]))


def _texts(row: Row, part: Part) -> list[str | None]:
    kinds = part.kinds[-len(row) :]
    return [
        value if value.__class__ is str else in_text(value)
        for value, how in zip(row, kinds, strict=True)
        if how == "value"
    ]


def _several(rows: list[Row], block: str, names: Names, values: list[str | None]) -> Part:
    """In the order of their first values: two that move the same jobs do not wait for each other in a ring."""
    if block in _IN_ORDER:
        rows = sorted(rows, key=_first)
    columns = list(zip(*rows, strict=True))
    part = several(block, names, tuple([_kind(column) for column in columns]))
    _add_columns(columns, columns_of(block, names), part.kinds, values)
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


def event_row(event: Event, payload: str | None) -> Row:
    return (
        event.tenant, event.rev, event.type, event.verb, event.from_state, event.to_state, event.at,
        event.actor, event.role, event.worker, event.attempt, event.request_id, event.trace_id, event.cause,
        text(event.changes), payload, event.version,
    )  # fmt: skip
