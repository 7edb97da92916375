"""Fresh stores of either kind, on a clock that only the test moves: whatever goes through a store is run on both."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.client.places import OnPostgres, OnSqlite, Place
from tests.client.world import World
from tests.postgres.server import Server
from tests.postgres.shared import Shared


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def store_kind(request: pytest.FixtureRequest) -> str:
    kind: str = request.param
    return kind


@pytest.fixture(scope="module")
def new_place(
    store_kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Place]:
    """An empty file; or the one database that is shared, emptied of whatever was in it."""
    if store_kind == "sqlite":
        return lambda: OnSqlite(tmp_path_factory.mktemp("store"))
    shared: Shared = request.getfixturevalue("pg_shared")
    return lambda: OnPostgres(shared.emptied())


@pytest.fixture(scope="module")
def own_place(
    store_kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    """One that stays as it is while other tests empty theirs."""
    if store_kind == "sqlite":
        yield OnSqlite(tmp_path_factory.mktemp("store"))
        return
    server: Server = request.getfixturevalue("pg_server")
    database = server.new_database()
    yield OnPostgres(database)
    server.drop_database(database)


@pytest.fixture
def fresh(new_place: Callable[[], Place]) -> Iterator[World]:
    world = World(new_place())
    yield world
    world.close()


@pytest.fixture
def url(store_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store."""
    if store_kind == "sqlite":
        return f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"
    emptied: str = request.getfixturevalue("pg_emptied")
    return emptied
