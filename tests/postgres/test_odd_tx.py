"""Transactions in unusual hands: classes that somebody derived, scoped sessions, and connections of an event loop that
are idle, closed, failed or lent to somebody else.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

import psycopg
import pytest
from django.db import transaction
from sqlalchemy import Column, Integer, create_engine, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import async_scoped_session, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Session, scoped_session, sessionmaker
from sqlalchemy.pool import NullPool

from tests.postgres import django_side
from tests.postgres.clients import opened
from tests.postgres.staging import Stage
from tests.postgres.transactors import dialect
from tests.store.sqlite.files import ids, raises


class OwnSession(Session):
    """As frameworks derive it."""


class OwnConnection(psycopg.Connection[Any]):
    """As people who want something added."""


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    number = Column(Integer, primary_key=True)


@contextmanager
def derived_session(url: str) -> Iterator[Any]:
    with OwnSession(create_engine(dialect(url, "psycopg"), poolclass=NullPool)) as session:
        yield session
        session.commit()


@contextmanager
def session_in_scope(url: str) -> Iterator[Any]:
    scoped = scoped_session(sessionmaker(create_engine(dialect(url, "psycopg"), poolclass=NullPool)))
    yield scoped
    scoped.commit()
    scoped.remove()


@contextmanager
def derived_connection(url: str) -> Iterator[Any]:
    with OwnConnection.connect(url) as connection:
        yield connection


@contextmanager
def row_factory(url: str) -> Iterator[Any]:
    """What its owner wants rows to look like is no matter of Detent's."""
    with psycopg.Connection.connect(url, row_factory=psycopg.rows.dict_row) as connection:
        yield connection


@contextmanager
def begun_block(url: str) -> Iterator[Any]:
    """`engine.begin()`: SQLAlchemy commits at its end."""
    with create_engine(dialect(url, "psycopg"), poolclass=NullPool).begin() as connection:
        yield connection


@contextmanager
def nested_block(url: str) -> Iterator[Any]:
    with psycopg.connect(url, autocommit=True) as connection, connection.transaction(), connection.transaction():
        yield connection


@contextmanager
def django_without_atomic(url: str) -> Iterator[Any]:
    """Django can leave beginning and ending to the program."""
    connection = django_side.connected(url)
    transaction.set_autocommit(False)
    yield connection
    transaction.commit()
    transaction.set_autocommit(True)
    connection.close()


ODD: Final[list[Callable[[str], AbstractContextManager[Any]]]] = [
    derived_session, session_in_scope, derived_connection, row_factory, begun_block, nested_block,
    django_without_atomic,
]  # fmt: skip


@pytest.mark.parametrize("given", ODD, ids=lambda given: given.__name__)
def test_transaction_in_unusual_hands_is_one_all_the_same(
    stage: Stage, given: Callable[[str], AbstractContextManager[Any]]
) -> None:
    with opened(stage.url) as client:
        with given(stage.url) as tx:
            client.enqueue("bill", job_id="bill", payload={"n": 1}, tx=tx)
            (job,) = client.claim(worker="w", tx=tx)
            seen = ids(client)

        assert job.payload == {"n": 1}
        assert (seen, ids(client)) == ([], ["bill"])


def test_async_session_in_scope_is_one_too(stage: Stage) -> None:
    async def scene() -> list[str]:
        engine = create_async_engine(dialect(stage.url, "asyncpg"), poolclass=NullPool)
        scoped = async_scoped_session(async_sessionmaker(engine), scopefunc=asyncio.current_task)
        async with opened(stage.url) as client:
            await client.enqueue("bill", job_id="bill", tx=scoped)
            await scoped.commit()
            await scoped.remove()
            return [job.id for job in (await client.find()).items]

    assert asyncio.run(scene()) == ["bill"]


def test_session_that_failed_in_a_flush_is_refused_with_what_sqlalchemy_says(stage: Stage) -> None:
    engine = create_engine(dialect(stage.url, "psycopg"), poolclass=NullPool)
    with opened(stage.url) as client, Session(engine) as session:
        session.execute(insert(Order).values(number=1))
        session.add(Order(number=1))
        with pytest.raises(IntegrityError):
            session.flush()
        with raises("bad_transaction") as refused:
            client.enqueue("bill", tx=session)
        session.rollback()
        client.enqueue("bill", job_id="bill", tx=session)
        session.commit()

        assert "rolled back" in str(refused.value)
        assert ids(client) == ["bill"]
