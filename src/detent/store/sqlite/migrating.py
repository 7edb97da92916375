"""Bringing a file to this program's schema: numbered migrations, each applied once, with a checksum of what it was."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import Final

from msgspec import Struct

from detent.errors import StoreError
from detent.store.sqlite.connection import Connection

# "dtnt": tells a store from any other SQLite file.
APPLICATION_ID: Final = 0x64746E74
_TABLE: Final = """
create table if not exists detent_migrations (
    number integer primary key, name text not null, checksum text not null, applied_at integer not null
) strict
"""
_APPLIED: Final = "select number, name, checksum from detent_migrations order by number"
_RECORD: Final = "insert into detent_migrations (number, name, checksum, applied_at) values (?, ?, ?, ?)"
_EXISTS: Final = "select 1 from sqlite_master where name = 'detent_migrations'"


class Migration(Struct, frozen=True):
    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


@cache
def migrations() -> tuple[Migration, ...]:
    """Those this program has, in their order: `migrations/0001_first.sql` is number 1."""
    folder = files("detent.store.sqlite.migrations")
    found = [each for each in folder.iterdir() if each.name.endswith(".sql")]
    made = [Migration(int(each.name[:4]), each.name[5:-4], each.read_text(encoding="utf-8")) for each in found]
    return tuple(sorted(made, key=lambda migration: migration.number))


def is_current(connection: Connection) -> bool:
    """The handshake: whether nothing is to be done. A store this program cannot understand is refused."""
    if connection.one(_EXISTS) is None:
        return False
    known = {migration.number: migration for migration in migrations()}
    applied = connection.execute(_APPLIED)
    for number, name, checksum in applied:
        if number not in known:
            raise _newer(connection.path, number, name, max(known))
        if known[number].checksum != checksum:
            raise _changed(connection.path, number, name)
    return len(applied) == len(known)


def migrate(connection: Connection, now: int) -> None:
    """Inside a write transaction: apply what is missing. Another process may have done it meanwhile."""
    if is_current(connection):
        return
    connection.execute(_TABLE)
    done = {number for number, _, _ in connection.execute(_APPLIED)}
    for migration in migrations():
        if migration.number not in done:
            connection.execute(migration.sql)
            connection.execute(_RECORD, (migration.number, migration.name, migration.checksum, now))
    if connection.execute("pragma application_id") == [(0,)]:  # a file of the user's own keeps the one it has
        connection.execute(f"pragma application_id = {APPLICATION_ID}")


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
