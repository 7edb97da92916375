"""Bringing a database to this program's schema: each step in a transaction, one program at a time, and never long in
the way of others. Who would have to wait for a lock lets others go first, and tries again.
"""

from typing import Final

import psycopg

from detent.errors import StoreError
from detent.store.postgres.connection import Connection
from detent.store.postgres.script import Ask
from detent.store.query import Migration
from detent.store.rows import Row
from detent.store.schema import checksum_of, matched, migrations_in
from detent.store.waiting import now_s, pause

LOCK_MS: Final = 500  # everybody who comes after a waiting migration waits as well
PAUSE_S: Final = 0.5
# "dtnt": what programs that migrate the same database take turns by.
TURN: Final = 0x64746E74
_TABLE: Final = """
create table if not exists detent_migrations (
    number bigint primary key, name text not null, checksum text not null, applied_at bigint not null
)
"""
_EXISTS: Final = "select to_regclass('detent_migrations') is not null"
_APPLIED: Final = "select number, name, checksum, applied_at from detent_migrations order by number"
_RECORD: Final = """
insert into detent_migrations (number, name, checksum, applied_at)
values ($1::text::bigint, $2::text, $3::text, (extract(epoch from clock_timestamp()) * 1000000)::bigint)
"""


def migrations() -> tuple[Migration, ...]:
    return migrations_in("detent.store.postgres.migrations")


def applied(connection: Connection, where: str) -> list[Migration]:
    """Each of them as the database has it. One this program cannot understand is refused."""
    return matched(migrations(), _rows(connection), where)


def migrate(connection: Connection, where: str, wait_s: float) -> None:
    """Apply what is missing, within `wait_s` if others keep tables locked."""
    deadline = now_s() + wait_s
    while missing := [each for each in applied(connection, where) if each.applied_at is None]:
        try:
            _apply(connection, missing[0])
        except psycopg.errors.LockNotAvailable as error:
            connection.rollback()
            if now_s() >= deadline:
                raise _in_the_way(where, missing[0]) from error
            pause(PAUSE_S)
        except psycopg.errors.InsufficientPrivilege as error:
            connection.rollback()
            raise _not_the_owner(where, missing[0]) from error
        except BaseException:
            connection.rollback()
            raise


def _apply(connection: Connection, migration: Migration) -> None:
    """Another program may have done it by the time it is our turn."""
    connection.say("begin")
    connection.say(f"set local lock_timeout = {LOCK_MS}")
    connection.say(f"select pg_advisory_xact_lock({TURN})")
    connection.say(_TABLE)
    if migration.number not in [row[0] for row in _rows(connection)]:
        connection.say(migration.sql)
        connection.execute(Ask(_RECORD, (str(migration.number), migration.name, checksum_of(migration))))
    connection.say("commit")


def _rows(connection: Connection) -> list[Row]:
    is_there = connection.execute(Ask(_EXISTS, ())) == [(True,)]
    return connection.execute(Ask(_APPLIED, ())) if is_there else []


def _in_the_way(where: str, migration: Migration) -> StoreError:
    message = f"migration {migration.number} ({migration.name}) found a table locked each time; end long transactions"
    return StoreError(f"store {where}: {message} and try again", code="store_locked")


def _not_the_owner(where: str, migration: Migration) -> StoreError:
    message = f"it lacks migration {migration.number} ({migration.name}), and this role may not apply it"
    remedy = "let the owner run `detent migrate`, and `detent migrate --roles` for this role"
    return StoreError(f"store {where}: {message}; {remedy}", code="store_read_only")
