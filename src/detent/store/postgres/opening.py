"""The first look at a server: can it be used, does it have the schema, does it keep what it acknowledges."""

import warnings
from collections.abc import Callable
from typing import Final, TypeVar

import psycopg

from detent.errors import StoreError
from detent.store.postgres import migrating
from detent.store.postgres.address import Address
from detent.store.postgres.connection import Connection
from detent.store.postgres.failing import store_error
from detent.store.postgres.patience import Patience
from detent.store.postgres.refusing import may_come, refused
from detent.store.postgres.script import Ask
from detent.store.query import Migration

Result = TypeVar("Result")
VERSION_MIN: Final = 130_000
_SERVER: Final = """
select current_setting('server_version_num')::bigint, current_setting('server_version'),
    array(select name from unnest(array['fsync', 'full_page_writes', 'synchronous_commit']) as name
          where current_setting(name) = 'off')
"""


class NotDurable(UserWarning):
    """The server may forget what it acknowledged."""


def prepare(connection: Connection, address: Address) -> None:
    """Reach it, look at it, and bring it to this program's schema."""
    _patiently(lambda: _prepare(connection, address), connection, address)


def look(address: Address) -> list[Migration]:
    """What the schema consists of, and which of it the database has. Nothing is changed."""
    connection = Connection(address, is_writing=False)
    try:
        return _patiently(lambda: migrating.applied(connection, address.shown), connection, address)
    finally:
        connection.close()


def forked(address: Address) -> StoreError:
    message = f"store {address.shown}: it was opened before a fork; open a client of its own in the new process"
    return StoreError(message, code="forked")


def _prepare(connection: Connection, address: Address) -> None:
    ((number, version, switched_off),) = connection.execute(Ask(_SERVER, ()))
    if number < VERSION_MIN:
        message = f"store {address.shown}: the server is PostgreSQL {version}; Detent needs 13 or later"
        raise StoreError(message, code="server_too_old")
    if switched_off:
        names = ", ".join(switched_off)
        message = f"store {address.shown}: {names} is off on this server; after a crash acknowledged jobs may be gone"
        warnings.warn(message, NotDurable, stacklevel=2)
    found = migrating.applied(connection, address.shown)
    if not address.create and all(each.applied_at is None for each in found):
        message = f"there is no store in {address.shown}; `detent migrate` or connect() makes one"
        raise StoreError(f"{message}, or give the right --url", code="store_missing")
    migrating.migrate(connection, address.shown, address.busy_s)


def _patiently(work: Callable[[], Result], connection: Connection, address: Address) -> Result:
    """A server may just be starting, or be lost on the way. One that was never there, or refuses, does so for good."""
    patience, was_there = Patience(min(address.retry_s, address.busy_s)), False
    while True:
        try:
            connection.reach()
            was_there = True
            return work()
        except (psycopg.Error, OSError) as error:
            connection.close()
            if not was_there and not may_come(error):
                raise refused(address.shown, error) from error
            if not patience.allows(error):
                raise (store_error if was_there else refused)(address.shown, error) from error
