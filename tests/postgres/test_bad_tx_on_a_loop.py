"""The same refusals for connections of an event loop."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

import asyncpg
import psycopg
import pytest
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from tests.postgres.clients import opened
from tests.postgres.staging import Stage, ids
from tests.postgres.transactors import dialect
from tests.store.sqlite.files import raises

Given = Callable[[str], AbstractAsyncContextManager[Any]]


@asynccontextmanager
async def idle(url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(url)
    yield connection
    await connection.close()


@asynccontextmanager
async def closed(url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(url)
    await connection.close()
    yield connection


@asynccontextmanager
async def failed(url: str) -> AsyncIterator[Any]:
    async with idle(url) as connection:
        transaction = connection.transaction()
        await transaction.start()
        with pytest.raises(asyncpg.DivisionByZeroError):
            await connection.execute("select 1 / 0")
        yield connection
        await transaction.rollback()


@asynccontextmanager
async def given_back(url: str) -> AsyncIterator[Any]:
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool:
        async with pool.acquire() as connection:
            pass
        yield connection


@asynccontextmanager
async def transaction_itself(url: str) -> AsyncIterator[Any]:
    async with idle(url) as connection, connection.transaction():
        yield connection.transaction()


@asynccontextmanager
async def psycopg_autocommit(url: str) -> AsyncIterator[Any]:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        yield connection


@asynccontextmanager
async def sqlalchemy_autocommit(url: str) -> AsyncIterator[Any]:
    settings: Any = {"poolclass": NullPool, "isolation_level": "AUTOCOMMIT"}
    async with create_async_engine(dialect(url, "asyncpg"), **settings).connect() as connection:
        yield connection


@asynccontextmanager
async def async_engine(url: str) -> AsyncIterator[Any]:
    yield create_async_engine(dialect(url, "psycopg"))


# What is given, and what the refusal says.
WRONG: Final[dict[str, tuple[Given, str]]] = {
    "asyncpg idle": (idle, "begin one, as with `conn.transaction()`"),
    "asyncpg closed": (closed, "its connection is closed"),
    "asyncpg failed": (failed, "it has failed; roll it back first"),
    "asyncpg given back to its pool": (given_back, "released back to the pool"),
    "transaction of asyncpg": (transaction_itself, "tx= is of type asyncpg.transaction.Transaction; give a connection"),
    "psycopg in autocommit": (psycopg_autocommit, "begin one"),
    "SQLAlchemy in autocommit": (sqlalchemy_autocommit, "begin one"),
    "async engine": (async_engine, "tx= is of type sqlalchemy.ext.asyncio.engine.AsyncEngine; give"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_open_transaction_is_refused(stage: Stage, what: str) -> None:
    given, said = WRONG[what]

    async def scene() -> tuple[str, list[str]]:
        async with opened(stage.url) as client, given(stage.url) as tx:
            with raises("bad_transaction") as refused:
                await client.enqueue("scan", tx=tx)
            return str(refused.value), await ids(client)

    message, seen = asyncio.run(scene())

    assert said in message
    assert seen == []
