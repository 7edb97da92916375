"""The transactions that callers have open on a store, and the connections they come back to."""

import threading
from collections.abc import Callable

from detent.errors import InvalidArgument
from detent.store.desk import not_open
from detent.store.sqlite.gate import Gate
from detent.store.sqlite.session import Session
from detent.store.sqlite.transaction import Transaction


class Transactions:
    """Any thread may begin, end or close. A connection is used again by the next transaction."""

    def __init__(self, connect: Callable[[], Session], gate: Gate | None, busy_s: float) -> None:
        self._connect = connect
        self._gate = gate
        self._busy_s = busy_s
        self._changed = threading.Condition()
        self._idle: list[Session] = []
        self._open: list[Transaction] = []
        self._beginning = 0
        self._is_closed = False

    def begin(self) -> Transaction:
        with self._changed:
            if self._is_closed:
                raise not_open()
            self._beginning += 1
        try:
            return self._begin()
        finally:
            with self._changed:
                self._beginning -= 1
                self._changed.notify_all()

    def end(self, tx: Transaction, *, commit: bool) -> None:
        with self._changed:
            if tx not in self._open:
                raise InvalidArgument("this transaction is over: its client was closed", code="bad_transaction")
            self._open.remove(tx)
        try:
            tx.end(commit=commit)
        finally:
            self._put_back(tx.session)

    def own(self, tx: object) -> Transaction:
        """The open transaction that was meant: itself, or its connection."""
        for known in tuple(self._open):
            if tx is known or tx is known.connection:
                return known
        message = "tx= is no open transaction of this store; use what `client.transaction()` gives you"
        raise InvalidArgument(f"{message}, not a {type(tx).__name__}", code="bad_transaction")

    def close(self) -> None:
        """Roll back what is open. Who is waiting for its turn gets it, and is turned away."""
        with self._changed:
            self._is_closed = True
            open_now = tuple(self._open)
        for tx in open_now:
            self.end(tx, commit=False)
        with self._changed:
            self._changed.wait_for(lambda: not self._beginning)

    def _begin(self) -> Transaction:
        with self._changed:
            session = self._idle.pop() if self._idle else None
        tx = Transaction(session or self._connect(), self._gate, self._busy_s)
        try:
            tx.begin()
        except BaseException:
            self._put_back(tx.session)
            raise
        with self._changed:
            self._open.append(tx)
            is_closed = self._is_closed
        if is_closed:
            self.end(tx, commit=False)
            raise not_open()
        return tx

    def _put_back(self, session: Session) -> None:
        session.forget()
        with self._changed:
            self._idle.append(session)
