"""The caller's own transaction: its tables and Detent's, committed together or not at all."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

import apsw

from detent.errors import InvalidArgument
from detent.store.rows import Row
from detent.store.sqlite.failing import translated
from detent.store.sqlite.gate import Gate
from detent.store.sqlite.session import Session

Result = TypeVar("Result")


class Transaction:
    """An open write transaction on the store's file. It holds the file's write lock: keep it short.

    `connection` is apsw's, for tables of your own; `execute` is a shorthand. Pass the transaction as `tx=` to have a
    verb take part in it. Leaving the block commits; an exception rolls back.
    """

    def __init__(self, session: Session, gate: Gate | None, busy_s: float) -> None:
        self.session = session
        self._gate = gate
        self._busy_s = busy_s
        self._held = ExitStack()
        self.is_open = False

    @property
    def connection(self) -> apsw.Connection:
        return self.session.connection.raw

    def execute(self, sql: str, bindings: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
        self._check_open()
        with translated(self.session.connection.path):
            return self.session.connection.execute(sql, bindings)

    def begin(self) -> None:
        with ExitStack() as held, translated(self.session.connection.path):
            if self._gate is not None:
                held.enter_context(self._gate.turn(self._busy_s))
            self.session.connection.begin()
            self._held = held.pop_all()
        self.is_open = True

    def end(self, *, commit: bool) -> None:
        self._check_open()
        self.is_open = False
        connection = self.session.connection
        try:
            with translated(connection.path):
                if commit:
                    connection.commit()
        finally:
            connection.rollback()
            self._held.close()

    def do(self, work: Callable[[Session], Result], now: int) -> Result:
        """A verb inside: whole, or without a trace if it fails, so that the caller may go on."""
        self._check_open()
        result: list[Result] = []
        with translated(self.session.connection.path), self.connection:  # a savepoint
            self.session.forget()  # the caller may have rolled back to a savepoint of its own
            self.session.begin(now)
            result.append(work(self.session))
        return result[0]

    def _check_open(self) -> None:
        if not self.is_open:
            message = "this transaction is not open; use it inside its own `with` block"
            raise InvalidArgument(message, code="bad_transaction")
