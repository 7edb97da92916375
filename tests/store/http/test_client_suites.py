"""The clients over HTTP, blocking and not: suites of the client once more, on a store that is a service."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from detent.store import Store
from detent.store.clock import Clock, Random
from tests.client.places import OnSqlite
from tests.client.test_hostile_text import *  # noqa: F403
from tests.client.test_replay import *  # noqa: F403
from tests.client.test_waiting import *  # noqa: F403
from tests.client.world import World
from tests.store.http.serving import Serving, served


class OnHttp(OnSqlite):
    """A service over a file."""

    def __init__(self, server: Serving, folder: Path) -> None:
        super().__init__(folder)
        self._server = server

    def store(self, clock: Clock, random: Random) -> Store:
        client = self._server.open(super().store(clock, random))
        return self._server.store(self._server.token(client, "admin", any_tenant=True))


@pytest.fixture(scope="module")
def new_place(server: Serving, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], OnHttp]:
    return lambda: OnHttp(server, tmp_path_factory.mktemp("store"))


@pytest.fixture
def fresh(server: Serving, tmp_path: Path) -> Iterator[World]:
    world = World(OnHttp(server, tmp_path))
    yield world
    world.close()
    server.close()


@pytest.fixture
def url(server: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with served(server, tmp_path, reconcile_s=60) as token:
        monkeypatch.setenv("DETENT_TOKEN", token)
        yield server.url
