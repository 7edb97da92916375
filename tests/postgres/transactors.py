"""Everything a program may hold its own transaction by, each used in the same few ways: say, commit, roll back.

A test is written once, as a coroutine, and played on each of them: those of an event loop on one, the others without.
Without a loop a coroutine of the client blocks instead of suspending itself, as it does for the blocking client.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

import asyncpg
import psycopg
import pytest
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from detent.client.sync import run
from tests.postgres import django_side
from tests.postgres.mine import Mine, blocking, suspending

Transactor = Callable[[str], AbstractAsyncContextManager[Mine]]


@asynccontextmanager
async def with_psycopg(url: str) -> AsyncIterator[Mine]:
    with psycopg.connect(url) as connection:
        yield blocking(connection, connection.execute, connection.commit, connection.rollback)


@asynccontextmanager
async def with_psycopg_autocommit(url: str) -> AsyncIterator[Mine]:
    """What psycopg is told to leave to the program, the program begins by itself."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("begin")
        yield blocking(connection, connection.execute, connection.commit, connection.rollback)


@asynccontextmanager
async def with_sqlalchemy_session(url: str) -> AsyncIterator[Mine]:
    with Session(create_engine(dialect(url, "psycopg"), poolclass=NullPool)) as session:
        yield blocking(session, lambda sql: session.connection().exec_driver_sql(sql), session.commit, session.rollback)


@asynccontextmanager
async def with_sqlalchemy_connection(url: str) -> AsyncIterator[Mine]:
    with create_engine(dialect(url, "psycopg"), poolclass=NullPool).connect() as connection:
        yield blocking(connection, connection.exec_driver_sql, connection.commit, connection.rollback)


@asynccontextmanager
async def with_django(url: str) -> AsyncIterator[Mine]:
    with django_side.atomic(url) as block:
        yield blocking(block.connection, block.say, block.commit, block.rollback)


@asynccontextmanager
async def with_async_psycopg(url: str) -> AsyncIterator[Mine]:
    async with await psycopg.AsyncConnection.connect(url) as connection:

        async def say(sql: str) -> Any:
            cursor = await connection.execute(sql)
            return await cursor.fetchall() if cursor.description else []

        yield suspending(connection, say, connection.commit, connection.rollback)


@asynccontextmanager
async def with_asyncpg(url: str) -> AsyncIterator[Mine]:
    connection = await asyncpg.connect(url)
    try:
        async with begun_by_asyncpg(connection) as mine:
            yield mine
    finally:
        await connection.close()


@asynccontextmanager
async def with_asyncpg_pool(url: str) -> AsyncIterator[Mine]:
    async with (
        asyncpg.create_pool(url, min_size=1, max_size=1) as pool,
        pool.acquire() as connection,
        begun_by_asyncpg(connection) as mine,
    ):
        yield mine


@asynccontextmanager
async def begun_by_asyncpg(connection: Any) -> AsyncIterator[Mine]:
    transaction = connection.transaction()
    await transaction.start()
    yield suspending(connection, connection.fetch, transaction.commit, transaction.rollback)
    if connection.is_in_transaction():
        await transaction.rollback()


def with_async_session(driver: str) -> Transactor:
    @asynccontextmanager
    async def begun(url: str) -> AsyncIterator[Mine]:
        async with AsyncSession(create_async_engine(dialect(url, driver), poolclass=NullPool)) as session:

            async def say(sql: str) -> Any:
                return await (await session.connection()).exec_driver_sql(sql)

            yield suspending(session, say, session.commit, session.rollback)

    return begun


def with_async_connection(driver: str) -> Transactor:
    @asynccontextmanager
    async def begun(url: str) -> AsyncIterator[Mine]:
        async with create_async_engine(dialect(url, driver), poolclass=NullPool).connect() as connection:
            yield suspending(connection, connection.exec_driver_sql, connection.commit, connection.rollback)

    return begun


def dialect(url: str, driver: str) -> str:
    return url.replace("postgresql://", f"postgresql+{driver}://")


BLOCKING: Final[dict[str, Transactor]] = {
    "psycopg": with_psycopg,
    "psycopg in autocommit": with_psycopg_autocommit,
    "SQLAlchemy session": with_sqlalchemy_session,
    "SQLAlchemy connection": with_sqlalchemy_connection,
    "Django": with_django,
}
SUSPENDING: Final[dict[str, Transactor]] = {
    "async psycopg": with_async_psycopg,
    "asyncpg": with_asyncpg,
    "asyncpg pool": with_asyncpg_pool,
    "SQLAlchemy async session on psycopg": with_async_session("psycopg"),
    "SQLAlchemy async session on asyncpg": with_async_session("asyncpg"),
    "SQLAlchemy async connection on psycopg": with_async_connection("psycopg"),
    "SQLAlchemy async connection on asyncpg": with_async_connection("asyncpg"),
}
every_transactor = pytest.mark.parametrize("transactor", [*BLOCKING, *SUSPENDING])


def played(transactor: str, scene: Coroutine[Any, Any, Any]) -> Any:
    """In the world of the transactor: to its end without an event loop, or on one."""
    return run(scene) if transactor in BLOCKING else asyncio.run(scene)


def begun(transactor: str, url: str) -> AbstractAsyncContextManager[Mine]:
    return (BLOCKING | SUSPENDING)[transactor](url)
