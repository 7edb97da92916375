"""What is no open transaction of this store is refused, with a word on what to give instead, and nothing is written."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

import psycopg
import pytest
from django.db import transaction
from sqlalchemy import create_engine
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import NullPool

from detent import connect
from tests.postgres import django_side
from tests.postgres.clients import opened
from tests.postgres.server import Server
from tests.postgres.transactors import dialect
from tests.store.sqlite.files import ids, raises

Given = Callable[[str], AbstractContextManager[Any]]


@contextmanager
def psycopg_cursor(url: str) -> Iterator[Any]:
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        yield cursor


@contextmanager
def autocommit(url: str) -> Iterator[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


@contextmanager
def closed(url: str) -> Iterator[Any]:
    with psycopg.connect(url) as connection:
        pass
    yield connection


@contextmanager
def failed(url: str) -> Iterator[Any]:
    with psycopg.connect(url) as connection:
        with pytest.raises(psycopg.Error):
            connection.execute("select 1 / 0")
        yield connection


@contextmanager
def pipelined(url: str) -> Iterator[Any]:
    with psycopg.connect(url) as connection, connection.pipeline():
        yield connection


@contextmanager
def of_sqlite(_: str) -> Iterator[Any]:
    with connect("sqlite:///:memory:") as other, other.transaction() as tx:
        yield tx


@contextmanager
def session_on_sqlite(_: str) -> Iterator[Any]:
    with Session(create_engine("sqlite://", poolclass=NullPool)) as session:
        yield session


@contextmanager
def engine(url: str) -> Iterator[Any]:
    yield create_engine(dialect(url, "psycopg"))


@contextmanager
def session_maker(url: str) -> Iterator[Any]:
    yield sessionmaker(create_engine(dialect(url, "psycopg")))


@contextmanager
def sqlalchemy_autocommit(url: str) -> Iterator[Any]:
    settings: Any = {"poolclass": NullPool, "isolation_level": "AUTOCOMMIT"}
    with create_engine(dialect(url, "psycopg"), **settings).connect() as connection:
        yield connection


@contextmanager
def sqlalchemy_closed(url: str) -> Iterator[Any]:
    with create_engine(dialect(url, "psycopg"), poolclass=NullPool).connect() as connection:
        pass
    yield connection


@contextmanager
def django_outside(url: str) -> Iterator[Any]:
    connection = django_side.connected(url)
    connection.ensure_connection()
    yield connection
    connection.close()


@contextmanager
def django_failed(url: str) -> Iterator[Any]:
    with django_side.atomic(url) as block:
        with pytest.raises(django_side.Undone), transaction.atomic(savepoint=False):
            raise django_side.Undone
        yield block.connection


@contextmanager
def psycopg2(_: str) -> Iterator[Any]:
    """As an object of that library looks from outside."""
    yield type("connection", (), {"__module__": "psycopg2.extensions"})()


@contextmanager
def a_string(_: str) -> Iterator[Any]:
    yield "tx"


# What is given, and what the refusal says.
WRONG: Final[dict[str, tuple[Given, str]]] = {
    "a string": (a_string, "tx= is of type builtins.str; give a connection of psycopg 3"),
    "psycopg2": (psycopg2, "tx= is of type psycopg2.extensions.connection; give a connection of psycopg 3"),
    "a cursor": (psycopg_cursor, "tx= is of type psycopg.Cursor; give a connection"),
    "autocommit": (autocommit, "begin one, as with `conn.transaction()`"),
    "closed": (closed, "its connection is closed"),
    "failed": (failed, "it has failed; roll it back first"),
    "pipelined": (pipelined, "pipeline mode; leave that first"),
    "SQLite": (of_sqlite, "tx= is of type detent.store.sqlite.transaction.Transaction; give"),
    "session on SQLite": (session_on_sqlite, "tx= is of type sqlite3.Connection; give"),
    "engine": (engine, "tx= is of type sqlalchemy.engine.base.Engine; give"),
    "sessionmaker": (session_maker, "tx= is of type sqlalchemy.orm.session.sessionmaker; give"),
    "SQLAlchemy in autocommit": (sqlalchemy_autocommit, "begin one"),
    "SQLAlchemy closed": (sqlalchemy_closed, "This Connection is closed"),
    "Django outside atomic": (django_outside, "use it inside `with transaction.atomic():`"),
    "Django failed": (django_failed, "Django will roll it back; leave it first"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_open_transaction_is_refused(pg_emptied: str, what: str) -> None:
    given, said = WRONG[what]
    with opened(pg_emptied) as client, given(pg_emptied) as tx:
        with raises("bad_transaction") as refused:
            client.enqueue("scan", tx=tx)
        with raises("bad_transaction"):
            client.claim(worker="w", tx=tx)

        assert said in str(refused.value)
        assert ids(client) == []


@pytest.mark.parametrize("elsewhere", ["no store", "another store", "another schema"])
def test_transaction_on_another_database_is_refused_and_stays_usable(
    pg_server: Server, pg_emptied: str, elsewhere: str
) -> None:
    other = pg_server.new_database()
    if elsewhere == "another store":
        with opened(other):
            pass
    options = "-csearch_path=pg_catalog" if elsewhere == "another schema" else ""
    place = pg_emptied if elsewhere == "another schema" else other
    with opened(pg_emptied) as client, psycopg.connect(place, options=options) as connection:
        with raises("bad_transaction") as refused:
            client.enqueue("scan", tx=connection)

        assert "another database" in str(refused.value)
        assert connection.execute("select 1").fetchone() == (1,)
        assert ids(client) == []
    pg_server.drop_database(other)
