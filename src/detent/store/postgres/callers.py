"""Transactions of callers: the connection behind whatever they hold, and how statements run there."""

from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
from psycopg.pq import PipelineStatus, TransactionStatus

from detent.store.postgres.script import Ask
from detent.store.postgres.statements import text_first
from detent.store.postgres.unwrapping import is_asyncpg, not_open, of_a_loop, strange, unwrapped
from detent.store.rows import Row
from detent.store.waiting import is_blocking

Blocking = Callable[[Ask], list[Row]]
Suspending = Callable[[Ask], Awaitable[list[Row]]]


class Caller:
    """One connection of a caller's, in a transaction. `blocking` or `suspending` runs a statement on it."""

    def __init__(self, raw: Any, *, blocking: Blocking | None = None, suspending: Suspending | None = None) -> None:
        self.raw = raw
        self.blocking = blocking
        self.suspending = suspending


async def caller_of(tx: Any) -> Caller:
    """The connection behind what was given as tx=. Its driver has to be psycopg 3 or asyncpg."""
    raw = await unwrapped(tx)
    if isinstance(raw, psycopg.Connection):
        _check(raw)
        return Caller(raw, blocking=_psycopg(raw))
    if not isinstance(raw, psycopg.AsyncConnection) and not is_asyncpg(raw):
        raise strange(raw)
    if is_blocking():
        raise of_a_loop()
    if isinstance(raw, psycopg.AsyncConnection):
        _check(raw)
        return Caller(raw, suspending=_async_psycopg(raw))
    _check_asyncpg(raw)
    return Caller(raw, suspending=_asyncpg(raw))


def _check(raw: "psycopg.Connection[Any] | psycopg.AsyncConnection[Any]") -> None:
    status = raw.info.transaction_status
    if status == TransactionStatus.UNKNOWN:
        raise not_open("its connection is closed; give one that is open")
    if status == TransactionStatus.INERROR:
        raise not_open("it has failed; roll it back first")
    if status == TransactionStatus.IDLE and raw.autocommit:
        raise not_open("begin one, as with `conn.transaction()`: every statement would be committed by itself")
    if raw.pgconn.pipeline_status != PipelineStatus.OFF:
        raise not_open("its connection is in pipeline mode; leave that first")


def _check_asyncpg(raw: Any) -> None:
    """Whether it has failed, asyncpg does not say; the first statement will."""
    from asyncpg import InterfaceError

    try:
        if raw.is_closed():
            raise not_open("its connection is closed; give one that is open")
        if not raw.is_in_transaction():
            raise not_open("begin one, as with `conn.transaction()`: every statement would be committed by itself")
    except InterfaceError as error:  # it went back to its pool
        raise not_open(f"asyncpg says: {error}") from error


def _psycopg(raw: "psycopg.Connection[Any]") -> Blocking:
    def execute(asked: Ask) -> list[Row]:
        with psycopg.RawCursor(raw, row_factory=psycopg.rows.tuple_row) as cursor:
            cursor.execute(asked.sql, asked.values or None)
            return cursor.fetchall() if cursor.description else []

    return execute


def _async_psycopg(raw: "psycopg.AsyncConnection[Any]") -> Suspending:
    async def execute(asked: Ask) -> list[Row]:
        async with psycopg.AsyncRawCursor(raw, row_factory=psycopg.rows.tuple_row) as cursor:
            await cursor.execute(asked.sql, asked.values or None)
            return await cursor.fetchall() if cursor.description else []

    return execute


def _asyncpg(raw: Any) -> Suspending:
    async def execute(asked: Ask) -> list[Row]:
        return [tuple(row) for row in await raw.fetch(text_first(asked.sql), *asked.values)]

    return execute
