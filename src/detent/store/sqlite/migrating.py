"""Bringing a file to this program's schema."""

from typing import Any, Final

import apsw

from detent.store.query import Migration
from detent.store.schema import checksum_of, matched, migrations_in
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


def migrations() -> tuple[Migration, ...]:
    return migrations_in("detent.store.sqlite.migrations")


def applied(connection: apsw.Connection, path: str) -> list[Migration]:
    """Each of them as the file has it. A file this program cannot understand is refused."""
    return matched(migrations(), _rows(connection), path)


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
        connection.execute(_RECORD, (migration.number, migration.name, checksum_of(migration), now))
    if connection.execute("pragma application_id") == [(0,)]:  # a file of the user's own keeps the one it has
        connection.execute(f"pragma application_id = {APPLICATION_ID}")


def _missing(connection: Connection) -> list[Migration]:
    return [each for each in applied(connection.raw, connection.path) if each.applied_at is None]


def _rows(connection: apsw.Connection) -> list[tuple[Any, ...]]:
    return connection.execute(_APPLIED).fetchall() if connection.execute(_EXISTS).fetchall() else []
