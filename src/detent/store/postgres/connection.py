"""One connection to the server: made when it is first needed, and made anew after it was lost."""

from typing import Any, Final

import psycopg

from detent.store.postgres.address import Address
from detent.store.postgres.definitions import Definitions
from detent.store.postgres.link import Link
from detent.store.postgres.reckoning import Reckoning
from detent.store.postgres.script import Ask
from detent.store.rows import Row

MEMOIZE_VERSION: Final = 140_000  # of the server: older ones know no such setting


class Connection:
    """Used by one thread at a time."""

    def __init__(self, address: Address, *, is_writing: bool) -> None:
        self._address = address
        self._is_writing = is_writing
        self._link: Link | None = None
        self._has_begun = False
        self._begin: str | None = None  # what is said first, along with the next statement
        self.reckoning = Reckoning()
        self.definitions = Definitions()

    @property
    def is_open(self) -> bool:
        return self._link is not None and self._link.is_open

    def reach(self) -> None:
        """Make it now, if it is not there."""
        if not self.is_open:
            self._open()

    def begin(self, sql: str = "begin") -> None:
        """It costs no journey of its own: the server hears of it along with the first statement."""
        self._ready()
        self._begin, self._has_begun = sql, True

    def commit(self) -> None:
        if self._begin is None:
            self.say("commit")
        self._begin, self._has_begun = None, False

    def execute(self, asked: Ask) -> list[Row]:
        begin, self._begin = self._begin, None
        return self._ready().ask(asked) if begin is None else self._ready().ask_after(begin, asked)

    def say(self, sql: str) -> None:
        """A statement, or several, without values or rows."""
        begin, self._begin = self._begin, None
        self._ready().say(sql if begin is None else f"{begin}; {sql}")

    def rollback(self) -> None:
        """Undo what is open, if there is still somebody to tell."""
        self._begin, self._has_begun = None, False
        if self._link is not None and self._link.is_open:
            self._link.raw.rollback()

    def close(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.close()

    def _ready(self) -> Link:
        """A transaction that has lost its connection does not go on on another one."""
        if self._link is not None and self._link.is_open:
            return self._link
        if self._has_begun:
            raise psycopg.OperationalError("the connection was lost in the middle of a transaction")
        return self._open()

    def _open(self) -> Link:
        self.close()
        self.definitions.forget()
        raw: psycopg.Connection[Any] = psycopg.connect(
            **self._address.keywords(is_writing=self._is_writing), autocommit=True
        )
        self._link = link = Link(raw, prepares=self._address.prepare)
        if self._is_writing and self._address.prepare and raw.info.server_version >= MEMOIZE_VERSION:
            link.say("set enable_memoize = off")  # no statement here looks for the same row twice
        return link
