"""One connection to the file, set up the way every one must be, with errors in Detent's own words."""

import os
from collections.abc import Iterable, Sequence
from errno import EACCES, EISDIR
from pathlib import Path
from typing import Any, Final, Literal

import apsw

from detent.store.rows import Row
from detent.store.sqlite.failing import translated

Synchronous = Literal["full", "normal"]
CACHE_KIB: Final = 32_768
WAL_BYTES_MAX: Final = 64 * 1024 * 1024  # what is left of the log file after a checkpoint
STATEMENTS_KEPT: Final = 512

# A file is created beforehand, with its mode; a path is never taken for an address.
_FILE: Final = apsw.SQLITE_OPEN_READWRITE
_MEMORY: Final = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI


class Connection:
    """A thin cover over apsw's. Used by one thread at a time.

    `busy_s`: how long SQLite itself waits for a writer that does not take turns, such as another tool.
    """

    def __init__(
        self, path: str, *, synchronous: Synchronous = "full", is_memory: bool = False, busy_s: float = 1.0
    ) -> None:
        self.path = path
        flags = _MEMORY if is_memory else _FILE
        with translated(path):
            self.raw = apsw.Connection(path, flags=flags, statementcachesize=STATEMENTS_KEPT)
            self._cursor = self.raw.cursor()
            self.raw.set_busy_timeout(round(busy_s * 1_000))
            # Else a join is planned anew whenever a value is bound: 30 µs instead of 3, each time.
            self.raw.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            for setting in _settings(synchronous, is_memory=is_memory):
                self.execute(f"pragma {setting}")

    def execute(self, sql: str, bindings: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
        return self._cursor.execute(sql, bindings).fetchall()

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        self._cursor.executemany(sql, rows)

    def one(self, sql: str, bindings: Sequence[Any] = ()) -> Row | None:
        rows = self._cursor.execute(sql, bindings).fetchall()
        return rows[0] if rows else None

    def script(self, sql: str) -> None:
        self._cursor.execute(sql)

    def last_insert_rowid(self) -> int:
        return self.raw.last_insert_rowid()

    def total_changes(self) -> int:
        return self.raw.total_changes()

    def begin(self) -> None:
        self._cursor.execute("begin immediate")

    def commit(self) -> None:
        self._cursor.execute("commit")

    def rollback(self) -> None:
        """Undo what is open, if SQLite has not done so already."""
        if self.raw.in_transaction:
            self._cursor.execute("rollback")

    def close(self) -> None:
        self.raw.close()


def create_file(path: str) -> None:
    """Nobody but the owner may read jobs: the file begins with mode 0600, and SQLite gives its helpers the same.

    A file that exists is not opened here: closing it again would drop the locks that this process has on it.
    """
    with translated(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            check_access(path, os.R_OK | os.W_OK)


def check_access(path: str, mode: int) -> None:
    if Path(path).is_dir():
        raise IsADirectoryError(EISDIR, "it is a folder", path)
    if not os.access(path, mode):
        raise PermissionError(EACCES, "it may not be read and written", path)


def _settings(synchronous: Synchronous, *, is_memory: bool) -> list[str]:
    # With recursive triggers an "insert or replace" meets those on deletes; without, it would pass them by.
    shared = [f"cache_size = -{CACHE_KIB}", "temp_store = memory", "recursive_triggers = on"]
    shared.append(f"synchronous = {synchronous}")
    return shared if is_memory else ["journal_mode = wal", f"journal_size_limit = {WAL_BYTES_MAX}", *shared]
