"""The scene, played once on each store; the tests of the paths look at what became of each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths.scene import Played, played_on
from tests.postgres.server import Server


@pytest.fixture(scope="package", params=["sqlite", "postgres"])
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    if request.param == "sqlite":
        yield played_on(_file(tmp_path_factory.mktemp("paths")))
        return
    server: Server = request.getfixturevalue("pg_server")
    url = server.new_database()
    yield played_on(url)
    server.drop_database(url)


def _file(folder: Path) -> str:
    return f"sqlite:///{folder}/jobs.db?synchronous=normal"
