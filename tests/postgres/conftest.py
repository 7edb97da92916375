"""Stages: a database with Detent's tables and one of a program's own."""

from collections.abc import Iterator

import pytest

from detent.testing import VirtualClock
from tests.postgres.by_hand import Hand
from tests.postgres.casting import as_role, cast
from tests.postgres.clients import opened, timed
from tests.postgres.server import Server
from tests.postgres.staging import Stage
from tests.store.sqlite.files import run_to_success


@pytest.fixture
def store_url(pg_emptied: str) -> str:
    """A database with Detent's tables, and nothing in them but the built-in lifecycles."""
    return pg_emptied


@pytest.fixture
def orders_url(pg_server: Server, store_url: str) -> str:
    pg_server.psql("create table orders (number int primary key)", store_url)
    return store_url


@pytest.fixture
def stage(orders_url: str) -> Stage:
    return Stage(orders_url, lambda: opened(orders_url))


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def timed_stage(orders_url: str, clock: VirtualClock) -> Stage:
    """On the test's own clock."""
    return Stage(orders_url, lambda: timed(orders_url, clock))


@pytest.fixture(scope="module")
def hand_url(pg_server: Server) -> Iterator[str]:
    """A database with the lifecycles and nothing else, that nobody changes."""
    url = pg_server.new_database()
    with opened(url):
        pass
    yield url
    pg_server.drop_database(url)


@pytest.fixture
def hand(pg_server: Server, hand_url: str) -> Iterator[Hand]:
    with pg_server.connected(hand_url) as db, db.transaction(force_rollback=True):
        yield Hand(db)


@pytest.fixture(scope="module")
def cast_url(pg_server: Server) -> Iterator[str]:
    """A database with its roles, and a little of everything in it."""
    url = pg_server.new_database()
    cast(pg_server, url)
    with opened(as_role(url, "web")) as client:
        run_to_success(client, 20)
        client.enqueue("scan", job_id="waiting")
    yield url
    pg_server.drop_database(url)
