"""The scene, played once on each store; the tests of the paths look at what became of each."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.paths.scene import Played, played_on
from tests.postgres.server import Server

# What a developer's own environment says must not matter, nor that workers compile everything anew.
UNWANTED: Final = (
    "DETENT_URL", "DETENT_TENANT", "DETENT_ACTOR", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES",
    "PYTHONDONTWRITEBYTECODE",
)  # fmt: skip


@pytest.fixture(scope="package")
def plain_workers() -> Iterator[None]:
    """The tests' own clean environment is made for each test, and the scene is played before the first."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name in UNWANTED or name.startswith("PG")]:
            patch.delenv(name)
        yield


@pytest.fixture(scope="package", params=["sqlite", "postgres"])
def played(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, plain_workers: None
) -> Iterator[Played]:
    if request.param == "sqlite":
        yield played_on(_file(tmp_path_factory.mktemp("paths")))
        return
    server: Server = request.getfixturevalue("pg_server")
    url = server.new_database()
    yield played_on(url)
    server.drop_database(url)


def _file(folder: Path) -> str:
    return f"sqlite:///{folder}/jobs.db?synchronous=normal"
