"""A look at a file that is not open: what it has of the schema. Nothing is written, and nothing made beside it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from detent.errors import StoreError
from detent.store.query import Migration
from detent.store.sqlite import migrating, sharing
from detent.store.sqlite.connection import check_access
from detent.store.sqlite.failing import translated

LOOKS_MAX: Final = 4
_FLAGS: Final = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def migrations(path: str, busy_s: float) -> list[Migration]:
    """Those of this program, each with the moment the file got it. A file that is missing or empty has none."""
    with translated(path):
        if not _has_content(path):
            return list(migrating.migrations())
        check_access(path, os.R_OK)
        sharing.check_safe(path, sharing.identity_of(path))
        return _applied(path, busy_s)


def check_there(where: str, found: list[Migration]) -> None:
    """A store begins with its first migration: an empty file is none, nor is one with tables of somebody else's."""
    if all(each.applied_at is None for each in found):
        what = "no store in" if _has_content(where) else "no store at"  # a file of somebody else's is not to be blamed
        message = f"there is {what} {where}; `detent enqueue` or connect() makes one, or give the right --url"
        raise StoreError(message, code="store_missing")


def _applied(path: str, busy_s: float, looks: int = LOOKS_MAX) -> list[Migration]:
    """Others may close the store meanwhile, and the log is gone while we read it. Another look finds all in the file.

    SQLite has several words for that, so whatever it complains of is believed only if it says so every time.
    """
    try:
        with _reading(path, busy_s) as connection:
            return migrating.applied(connection, path)
    except apsw.BusyError:
        raise  # that was waited for
    except apsw.Error:
        if looks == 1:
            raise
        return _applied(path, busy_s, looks - 1)


@contextmanager
def _reading(path: str, busy_s: float) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(_address(path), flags=_FLAGS)
    connection.set_busy_timeout(round(busy_s * 1_000))
    try:
        yield connection
    finally:
        connection.close()


def _address(path: str) -> str:
    """Even a connection that only reads makes a -wal and a -shm beside a file that has none, and leaves them there.

    Where there is neither log nor journal, all is in the file itself, and SQLite is told that it will not change. Else
    it reads with the log, and keeps its hands off the index of the log; one that was lost, it has to make anew.
    """
    how = "immutable=1"
    if _has_content(f"{path}-wal") or _has_content(f"{path}-journal"):
        how = f"readonly_shm={int(Path(f'{path}-shm').exists())}"
    return f"file:{quote(path)}?mode=ro&{how}"


def _has_content(path: str) -> bool:
    try:
        return Path(path).is_dir() or Path(path).stat().st_size > 0
    except FileNotFoundError:
        return False
