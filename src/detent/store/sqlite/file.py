"""The file behind a store: opened with care, then written through one connection and read through another."""

from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path

import apsw

from detent.errors import DetentError, StoreError
from detent.store.clock import Clock, new_id
from detent.store.desk import Outcome
from detent.store.query import Migration
from detent.store.sqlite import inspecting, migrating, sharing
from detent.store.sqlite.connection import Connection, Synchronous, create_file
from detent.store.sqlite.definitions import Definitions
from detent.store.sqlite.failing import store_error, translated
from detent.store.sqlite.gate import SUFFIX, Gate
from detent.store.sqlite.session import Session, Work
from detent.store.sqlite.statements import SQL
from detent.store.sqlite.transactions import Transactions
from detent.store.sqlite.watching import Watch

MEMORY = ":memory:"


class File:
    """`busy_s`: how long a write waits for its turn. A path of `:memory:` is a store that ends with its client.

    `create`: whether a store is made where none is yet. Of one in memory there is none yet, whenever it is opened.
    """

    def __init__(
        self, path: str, *, synchronous: Synchronous = "full", busy_s: float = 10.0, create: bool = True
    ) -> None:
        self.is_memory = path == MEMORY
        # Where it really is: a program may change its folder, and one file may have several names.
        self.path = f"file:/{new_id()}?vfs=memdb" if self.is_memory else str(Path(path).resolve())
        self.watch = Watch(self.path)
        self._create = create
        self.synchronous = synchronous
        self._busy_s = busy_s
        self._gate: Gate | None = None
        self._identity: sharing.Identity | None = None
        self._sessions: list[Session] = []
        self._writing: Session | None = None
        self._reading: Session | None = None
        self.transactions: Transactions | None = None

    def open(self, now: int) -> None:
        sharing.check_library()
        is_unclean = False
        if not self.is_memory:
            self._check_kind()
        if not self._create:
            inspecting.check_there(MEMORY if self.is_memory else self.path, self.migrations())
        if not self.is_memory:
            create_file(self.path)
            with translated(self.path):
                self._gate, is_unclean = sharing.join(self.path)
                self._identity = sharing.identity_of(self.path)
        try:
            self._prepare(now, is_unclean=is_unclean)
        except BaseException:
            self.close()
            raise

    def _check_kind(self) -> None:
        """What is no database is refused before anything is made beside it."""
        with translated(self.path):
            if not Path(self.path + SUFFIX).exists():
                self.migrations()

    def migrations(self) -> list[Migration]:
        """What the schema consists of, and which of it the file has. Nothing is opened, and nothing made."""
        return list(migrating.migrations()) if self.is_memory else inspecting.migrations(self.path, self._busy_s)

    def close(self) -> None:
        """Nobody is at work any more. Whatever fails on the way, the file is left."""
        transactions, sessions, gate = self.transactions, self._sessions, self._gate
        self.transactions = self._writing = self._reading = self._gate = None
        self._sessions = []
        with ExitStack() as left:
            left.callback(self.watch.close)
            if gate is not None:
                left.callback(sharing.leave, gate)
            for session in sessions:
                left.callback(session.connection.close)
            if transactions is not None:
                left.callback(transactions.close)

    def write(self, group: list[Work], clock: Clock) -> list[Outcome]:
        """All of it in one transaction; if anything in it fails, each by itself, so that one does not fail another."""
        try:
            return [(result, None) for result in self._transact(group, clock)]
        except Exception as error:  # whoever asked hears of it, a bug included, and the thread lives on
            meaning = self._meaning(error)
            if len(group) == 1 or _is_locked(meaning):  # waiting again for each would add up
                return [(None, self._meaning(error)) for _ in group]
            return [outcome for work in group for outcome in self.write([work], clock)]

    def read(self, group: list[Work]) -> list[Outcome]:
        return [self._look(work) for work in group]

    def _prepare(self, now: int, *, is_unclean: bool) -> None:
        # Who finds it empty makes it a WAL file, which nobody else may look at meanwhile.
        with self._turn() if self._is_empty() else nullcontext():
            self._writing = self._connect()
        self._reading = self._connect()
        self.transactions = Transactions(self._begin_session, self._gate, self._busy_s)
        connection = self._writing.connection
        with translated(self.path):
            if is_unclean:
                self._check_damage(connection)
            if not migrating.is_current(connection):
                self._transact([lambda session: migrating.migrate(session.connection, now)], lambda: now)

    def _is_empty(self) -> bool:
        return not self.is_memory and Path(self.path).stat().st_size == 0

    def _check_damage(self, connection: Connection) -> None:
        """The last to use it did not close it. SQLite recovers by itself; that it could is worth a look."""
        found = [line for (line,) in connection.execute(SQL["quick_check"])]
        if found != ["ok"]:
            message = f"store {self.path}: it is damaged after an unclean end ({found[0]}); restore a backup"
            raise StoreError(message, code="store_corrupt")

    def _connect(self) -> Session:
        connection = Connection(self.path, synchronous=self.synchronous, is_memory=self.is_memory, busy_s=self._busy_s)
        session = Session(connection, Definitions())
        self._sessions.append(session)
        return session

    def _transact(self, group: list[Work], clock: Clock) -> list[object]:
        session = self._writing
        assert session is not None, "opened before anything is written"
        with self._turn():
            return self._commit(session, group, clock)

    def _turn(self) -> AbstractContextManager[None]:
        return nullcontext() if self._gate is None else self._gate.turn(self._busy_s)

    def _commit(self, session: Session, group: list[Work], clock: Clock) -> list[object]:
        connection = session.connection
        self.check_place()
        self.watch.begin()
        connection.begin()
        try:
            session.begin(clock())
            results = [work(session) for work in group]
            connection.commit()
            self.watch.end(has_news=session.makes_work)
        except BaseException:
            self.watch.end(has_news=True)
            session.definitions.forget()
            session.forget()
            connection.rollback()
            raise
        return results

    def _look(self, work: Work) -> Outcome:
        session = self._reading
        assert session is not None, "opened before anything is read"
        try:
            with translated(self.path), session.connection.raw:  # one moment for all that it reads
                session.begin(0)
                result = work(session)
        except Exception as error:  # whoever asked hears of it, and the thread lives on
            return None, error
        return result, None

    def _begin_session(self) -> Session:
        self.check_place()
        return self._connect()

    def check_place(self) -> None:
        """A file that was moved away would take writes that nobody finds again."""
        if self._identity is not None and sharing.identity_or_none(self.path) != self._identity:
            message = (
                f"store {self.path}: the file was removed or replaced while it was open; put it back with its -wal"
            )
            raise StoreError(message, code="store_moved")

    def _meaning(self, error: Exception) -> Exception:
        is_ours = isinstance(error, DetentError) or not isinstance(error, apsw.Error | OSError)
        return error if is_ours else store_error(self.path, error)


def _is_locked(error: Exception) -> bool:
    return isinstance(error, StoreError) and error.code == "store_locked"
