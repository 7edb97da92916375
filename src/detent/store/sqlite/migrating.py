"""Bringing a file to this program's schema: numbered migrations, each applied once, with a checksum of what it was."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import Any, Final

import apsw
from msgspec.structs import replace

from detent.errors import StoreError
from detent.store.query import Migration
from detent.store.sqlite.connection import Connection

# "dtnt": tells a store from any other SQLite file.
APPLICATION_ID: Final = 0x64746E74
_TABLE: Final = """
create table if not exists detent_migrations (
    number integer primary key, name text not null, checksum text not null, applied_at integer not null
) strict
"""
_APPLIED: Final = "select number, name, checksum, applied_at from detent_migrations order by number"
_RECORD: Final = "insert into detent_migrations (number, name, checksum, applied_at) values (?, ?, ?, ?)"
_EXISTS: Final = "select 1 from sqlite_master where name = 'detent_migrations'"


@cache
def migrations() -> tuple[Migration, ...]:
    """Those this program has, in their order: `migrations/0001_first.sql` is number 1."""
    folder = files("detent.store.sqlite.migrations")
    found = [each for each in folder.iterdir() if each.name.endswith(".sql")]
    made = [
        Migration(number=int(each.name[:4]), name=each.name[5:-4], sql=each.read_text(encoding="utf-8"))
        for each in found
    ]
    return tuple(sorted(made, key=lambda migration: migration.number))


def applied(connection: apsw.Connection, path: str) -> list[Migration]:
    """The handshake: each of them as the store has it. A store this program cannot understand is refused."""
    known = {migration.number: migration for migration in migrations()}
    for number, name, checksum, applied_at in _rows(connection):
        if number not in known:
            raise _newer(path, number, name, max(known))
        if _checksum(known[number]) != checksum:
            raise _changed(path, number, name)
        known[number] = replace(known[number], applied_at=applied_at)
    return list(known.values())


def is_current(connection: Connection) -> bool:
    """Whether nothing is to be done."""
    return not _missing(connection)


def migrate(connection: Connection, now: int) -> None:
    """Inside a write transaction: apply what is missing. Another process may have done it meanwhile."""
    missing = _missing(connection)
    if not missing:
        return
    connection.execute(_TABLE)
    for migration in missing:
        connection.execute(migration.sql)
        connection.execute(_RECORD, (migration.number, migration.name, _checksum(migration), now))
    if connection.execute("pragma application_id") == [(0,)]:  # a file of the user's own keeps the one it has
        connection.execute(f"pragma application_id = {APPLICATION_ID}")


def _missing(connection: Connection) -> list[Migration]:
    return [each for each in applied(connection.raw, connection.path) if each.applied_at is None]


def _rows(connection: apsw.Connection) -> list[tuple[Any, ...]]:
    return connection.execute(_APPLIED).fetchall() if connection.execute(_EXISTS).fetchall() else []


def _checksum(migration: Migration) -> str:
    return hashlib.sha256(migration.sql.encode()).hexdigest()


def _newer(path: str, number: int, name: str, newest: int) -> StoreError:
    return StoreError(
        f"store {path}: it has migration {number} ({name}), and this program knows them up to {newest}; "
        "use the version of Detent that migrated it, or a later one",
        code="schema_newer",
    )


def _changed(path: str, number: int, name: str) -> StoreError:
    return StoreError(
        f"store {path}: its migration {number} ({name}) is not this program's; "
        "use the version of Detent that made it, or restore a backup",
        code="schema_changed",
    )
