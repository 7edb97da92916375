"""What libraries wrap around a connection, taken off: SQLAlchemy's sessions and connections, Django's connection.

None of these libraries is imported before a caller brings something of its own.
"""

import asyncio
from typing import Any

from detent.errors import InvalidArgument
from detent.store.waiting import is_blocking


async def unwrapped(tx: Any) -> Any:
    """The driver's own connection, if it was a library's that was given."""
    if is_of(tx, "sqlalchemy"):
        return await _behind_sqlalchemy(tx)
    return _behind_django(tx) if is_of(tx, "django") else tx


def is_of(tx: object, library: str) -> bool:
    """Also if it is of a class that somebody derived."""
    return any(kind.__module__.partition(".")[0] == library for kind in type(tx).__mro__)


def is_asyncpg(raw: Any) -> bool:
    """A connection, or what a pool lends for one."""
    return is_of(raw, "asyncpg") and hasattr(type(raw), "is_in_transaction")


async def _behind_sqlalchemy(tx: Any) -> Any:
    """A session or a connection, of either world: each begins by itself, and is made to, so that it also commits."""
    from sqlalchemy.exc import InvalidRequestError

    try:
        if hasattr(tx, "get_bind"):
            tx = await _of_session(tx)
        if hasattr(tx, "get_raw_connection"):
            return await _of_async_connection(tx)
        if not hasattr(tx, "in_transaction"):
            raise strange(tx)
        if not tx.in_transaction():
            tx.exec_driver_sql("select 1")
        return tx.connection.driver_connection
    except InvalidRequestError as error:  # it is closed, or has failed
        raise not_open(f"SQLAlchemy says: {error}") from error


async def _of_session(session: Any) -> Any:
    connection = session.connection()
    if not asyncio.iscoroutine(connection):
        return connection
    if is_blocking():
        connection.close()
        raise of_a_loop()
    return await connection


async def _of_async_connection(connection: Any) -> Any:
    """On asyncpg it begins with its first statement, whatever it says of itself before."""
    if is_blocking():
        raise of_a_loop()
    raw = (await connection.get_raw_connection()).driver_connection
    if not connection.in_transaction() or (is_asyncpg(raw) and not raw.is_in_transaction()):
        await connection.exec_driver_sql("select 1")
    return raw


def _behind_django(tx: Any) -> Any:
    """`django.db.connection`, or one of `connections`, where Django does not commit each statement by itself."""
    if not hasattr(tx, "in_atomic_block"):
        raise strange(tx)
    if tx.connection is None or (not tx.in_atomic_block and tx.get_autocommit()):
        raise not_open("use it inside `with transaction.atomic():`, on the thread that entered it")
    if tx.needs_rollback:
        raise not_open("something in this `atomic()` has failed, and Django will roll it back; leave it first")
    return tx.connection


def not_open(remedy: str) -> InvalidArgument:
    return InvalidArgument(f"tx= is no open transaction; {remedy}", code="bad_transaction")


def of_a_loop() -> InvalidArgument:
    message = "tx= belongs to an event loop, and this call blocks; await the client's own verbs there"
    return InvalidArgument(message, code="bad_transaction")


def strange(tx: object) -> InvalidArgument:
    kind = f"{type(tx).__module__}.{type(tx).__qualname__}"
    message = (
        f"tx= is of type {kind}; give a connection of psycopg 3 or asyncpg, a session or connection of SQLAlchemy 2 on "
        "either, or Django's connection on psycopg 3"
    )
    return InvalidArgument(message, code="bad_transaction")
