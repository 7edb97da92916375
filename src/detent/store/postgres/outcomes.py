"""Whether a transaction took place whose end was not heard of, because the connection was lost meanwhile.

It is asked for inside the transaction that would do it all again, after the job in question was locked. So whatever
the lost one may still be up to on the server, it is over, or it comes too late and finds another revision.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from detent.errors import StoreError
from detent.kernel import Event
from detent.store.postgres.connection import Connection
from detent.store.postgres.script import Ask, Script, ask
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.verbs import Busy
from detent.store.request import Key
from detent.store.rows import Row
from detent.store.waiting import now_s, pause

SETTLED_S: Final = 20.0  # a transaction that goes on without its client for so long is in trouble
LOOK_S: Final = 0.02


class Attempt:
    """One try, up to the moment from which nobody can say whether it was in vain."""

    def __init__(self) -> None:
        self.results: list[Any] = []
        self.keys: Iterable[Key] = ()
        self.is_unknown = False
        self.transaction: str | None = None
        self.event: tuple[Key, Event] | None = None

    def ends(self, session: Session) -> None:
        """The commit is about to be sent. Who wrote nothing has nothing to lose."""
        self._know(session)
        self.transaction = session.transaction
        self.is_unknown = session.transaction is not None

    def watched(self, session: Session, connection: Connection) -> Callable[[Ask], list[Row]]:
        """A statement that is its own transaction: from the moment it is sent, its end is not known."""

        def execute(asked: Ask) -> list[Row]:
            self._know(session)
            self.is_unknown = self.event is not None
            return connection.execute(asked)

        return execute

    def _know(self, session: Session) -> None:
        self.keys = tuple(session.written)
        self.event = session.events[0] if session.events else None


def happened(attempt: Attempt, session: Session) -> Script[bool]:
    """By an event that nobody else would have written just so, once the transaction is over.

    Its number alone does not say: what a crash made the server forget it gives to others again.
    """
    if attempt.transaction is not None and not (yield from _by_number(attempt.transaction)):
        return False
    return attempt.event is None or (yield from _by_event(*attempt.event, session))


def _by_number(transaction: str) -> Script[bool]:
    """A server may still be at it, not knowing that its client is gone: so it is asked until it has an answer."""
    deadline = now_s() + SETTLED_S
    while now_s() < deadline:
        ((status,),) = yield ask(SQL["transaction_status"], {"transaction": transaction})
        if status != "in progress":
            return bool(status == "committed")
        pause(LOOK_S)
    message = f"transaction {transaction}, whose connection was lost, is still under way on the server"
    raise StoreError(f"{message}; whether the call took effect is not known yet: read the job", code="outcome_unknown")


def _by_event(key: Key, event: Event, session: Session) -> Script[bool]:
    yield from session.lock([key])
    if key in session.locked:
        raise Busy([key])
    rows = yield ask(SQL["event_written"], {"tenant": key[0], "id": key[1], "rev": event.rev})
    return rows == [(event.verb, event.at, event.actor, event.worker, event.attempt, event.to_state)]
