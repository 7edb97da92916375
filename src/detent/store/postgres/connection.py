"""One connection to the server: made when it is first needed, and made anew after it was lost."""

from typing import Any

import psycopg

from detent.store.postgres.address import Address
from detent.store.postgres.definitions import Definitions
from detent.store.postgres.link import Link
from detent.store.postgres.reckoning import Reckoning
from detent.store.postgres.script import Ask
from detent.store.rows import Row


class Connection:
    """Used by one thread at a time."""

    def __init__(self, address: Address, *, is_writing: bool) -> None:
        self._address = address
        self._is_writing = is_writing
        self._link: Link | None = None
        self._has_begun = False
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
        self.say(sql)
        self._has_begun = True

    def commit(self) -> None:
        self.say("commit")
        self._has_begun = False

    def execute(self, asked: Ask) -> list[Row]:
        return self._ready().ask(asked)

    def say(self, sql: str) -> None:
        """A statement, or several, without values or rows."""
        self._ready().say(sql)

    def rollback(self) -> None:
        """Undo what is open, if there is still somebody to tell."""
        self._has_begun = False
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
        return link
