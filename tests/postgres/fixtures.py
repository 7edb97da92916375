"""The servers that a test run shares, and a database of its own for each test that asks.

tests/conftest.py offers them to every test. Each starts when the first test asks for it; under xdist, every worker has
its own. All are set as durably as PostgreSQL comes.
"""

from collections.abc import Iterator

import pytest

from tests.postgres.server import Server
from tests.postgres.shared import Shared


@pytest.fixture(scope="session")
def pg_server() -> Iterator[Server]:
    """For whether things are right."""
    with Server(in_memory=True) as server:
        yield server


@pytest.fixture(scope="session")
def pg_server_on_disk() -> Iterator[Server]:
    """For how fast they are."""
    with Server() as server:
        yield server


@pytest.fixture
def pg_url(pg_server: Server) -> Iterator[str]:
    """The URL of an empty database that no other test uses."""
    url = pg_server.new_database()
    yield url
    pg_server.drop_database(url)


@pytest.fixture(scope="session")
def pg_shared(pg_server: Server) -> Iterator[Shared]:
    """One database for many tests, each of which empties it first."""
    shared = Shared(pg_server)
    yield shared
    shared.close()


@pytest.fixture
def pg_emptied(pg_shared: Shared) -> str:
    """Its URL: tables, and the built-in lifecycles. `pg_url` is for roles, schemas or migrations of a test's own."""
    return pg_shared.emptied()
