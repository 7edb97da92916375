"""Where the jobs of a test are: a file or a database. Each makes stores, and can be looked into past the client."""

from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol

import apsw
import psycopg
from psycopg import sql

from detent.store import Store
from detent.store.clock import Clock, Random
from detent.store.postgres import Address, PostgresStore
from detent.store.sqlite import File, SqliteStore


class Place(Protocol):
    def store(self, clock: Clock, random: Random) -> Store: ...

    def tables(self) -> list[str]: ...

    def rows_of(self, table: str) -> list[Any]: ...

    def version(self) -> object:
        """Another one than before: something was written."""
        ...

    def bytes_kept(self) -> bytes:
        """All there is, as somebody sees it who has the disk and not the key."""
        ...

    def close(self) -> None: ...


class OnSqlite:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "jobs.db"
        self._connection: apsw.Connection | None = None

    def store(self, clock: Clock, random: Random) -> Store:
        return SqliteStore(File(str(self.path), synchronous="normal"), clock=clock, random=random)

    def tables(self) -> list[str]:
        return [name for (name,) in self._reader.execute("select name from sqlite_master where type = 'table'")]

    def rows_of(self, table: str) -> list[Any]:
        return list(self._reader.execute(f'select * from "{table}"'))

    def version(self) -> object:
        return list(self._reader.execute("pragma data_version"))

    def bytes_kept(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.path.parent.iterdir())

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    @property
    def _reader(self) -> apsw.Connection:
        """Made when there is something to read."""
        if self._connection is None:
            self._connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)
        return self._connection


class OnPostgres:
    """Rows are told apart by who wrote them and where: a row that is only locked counts as it did before."""

    TABLES: Final = "select tablename from pg_tables where schemaname = 'public' order by tablename"
    ROWS: Final = "(select string_agg(xmin::text || ctid::text, ',' order by ctid) from {})"
    SNAPSHOT: Final = "select pg_current_snapshot()::text"

    def __init__(self, url: str) -> None:
        self.url = url
        self._connection: psycopg.Connection[Any] | None = None
        self._seen: tuple[object, object] = (None, None)

    def store(self, clock: Clock, random: Random) -> Store:
        return PostgresStore(Address(url=self.url), clock=clock, random=random)

    def tables(self) -> list[str]:
        return [name for (name,) in self._reader.execute(self.TABLES)]

    def rows_of(self, table: str) -> list[Any]:
        rows = sql.SQL("select * from {} order by ctid").format(sql.Identifier(table))
        return self._reader.execute(rows).fetchall()

    def version(self) -> object:
        # Whatever is written, or only locked, has a transaction id, and changes what is open or done with. As long as
        # that is the same, no row needs to be looked at, which takes ten times as long.
        snapshot = self._reader.execute(self.SNAPSHOT).fetchall()
        if self._seen[0] != snapshot:
            self._seen = (snapshot, self._reader.execute(self._versions).fetchall())
        return self._seen[1]

    @cached_property
    def _versions(self) -> sql.Composed:
        parts = [sql.SQL(self.ROWS).format(sql.Identifier(name)) for name in self.tables()]
        return sql.SQL("select {}").format(sql.SQL(",").join(parts))

    def bytes_kept(self) -> bytes:
        """Value by value: the files of a server have them in pages, and long ones compressed."""
        values = [value for table in self.tables() for row in self.rows_of(table) for value in row]
        return b"\n".join(value if isinstance(value, bytes) else str(value).encode() for value in values)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    @property
    def _reader(self) -> "psycopg.Connection[Any]":
        """Made when there is something to read."""
        if self._connection is None:
            self._connection = psycopg.connect(self.url, autocommit=True)
        return self._connection
