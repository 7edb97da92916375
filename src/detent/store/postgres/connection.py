"""One connection to the server: made when it is first needed, and made anew after it was lost."""

from typing import Any, Final

import psycopg
from psycopg.pq import ExecStatus

from detent.store.postgres.address import Address
from detent.store.postgres.definitions import Definitions
from detent.store.postgres.reckoning import Reckoning
from detent.store.postgres.script import Ask
from detent.store.rows import Row

PREPARED_MAX: Final = 150  # each takes the server some hundred kilobytes


class Connection:
    """Used by one thread at a time."""

    def __init__(self, address: Address, *, is_writing: bool) -> None:
        self._address = address
        self._is_writing = is_writing
        self._raw: psycopg.Connection[Any] | None = None
        self._cursor: psycopg.RawCursor[Any] | None = None
        self._has_begun = False
        self.reckoning = Reckoning()
        self.definitions = Definitions()

    @property
    def is_open(self) -> bool:
        return self._raw is not None and not self._raw.closed

    def reach(self) -> None:
        """Make it now, if it is not there."""
        if not self.is_open:
            self._open()

    def begin(self, sql: str = "begin") -> None:
        self.say(sql)
        self._has_begun = True

    def commit(self) -> None:
        self.say("commit")
        self._has_begun = False

    def execute(self, asked: Ask) -> list[Row]:
        cursor = self._ready()
        cursor.execute(asked.sql, asked.values)
        result = cursor.pgresult  # its description would be made anew each time, column by column
        return cursor.fetchall() if result is not None and result.status == ExecStatus.TUPLES_OK else []

    def say(self, sql: str) -> None:
        """A statement, or several, without values or rows. It is not worth preparing."""
        self._ready().execute(sql, prepare=False)

    def rollback(self) -> None:
        """Undo what is open, if there is still somebody to tell."""
        self._has_begun = False
        if self._raw is not None and not self._raw.closed:
            self._raw.rollback()

    def close(self) -> None:
        raw, self._raw, self._cursor = self._raw, None, None
        if raw is not None:
            raw.close()

    def _ready(self) -> "psycopg.RawCursor[Any]":
        """A transaction that has lost its connection does not go on on another one."""
        if self._cursor is not None and self.is_open:
            return self._cursor
        if self._has_begun:
            raise psycopg.OperationalError("the connection was lost in the middle of a transaction")
        return self._open()

    def _open(self) -> "psycopg.RawCursor[Any]":
        self.close()
        self.definitions.forget()
        raw: psycopg.Connection[Any] = psycopg.connect(
            **self._address.keywords(is_writing=self._is_writing),
            autocommit=True,
            prepare_threshold=0 if self._address.prepare else None,
        )
        raw.prepared_max = PREPARED_MAX
        self._raw = raw
        self._cursor = cursor = psycopg.RawCursor(raw)
        return cursor
