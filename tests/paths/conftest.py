"""The scene, played once on each store; the tests of the paths look at what became of each."""

import fcntl
import os
import pickle
from collections.abc import Callable, Iterator
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
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, plain_workers: None) -> Played:
    def on_sqlite() -> Played:
        return played_on(f"sqlite:///{tmp_path_factory.mktemp('paths')}/jobs.db?synchronous=normal")

    def on_postgres() -> Played:
        server: Server = request.getfixturevalue("pg_server")
        url = server.new_database()
        played = played_on(url)
        server.drop_database(url)
        return played

    folder = tmp_path_factory.getbasetemp()
    is_one_of_several = "PYTEST_XDIST_WORKER" in os.environ
    makes = {"sqlite": on_sqlite, "postgres": on_postgres}
    return made_once(folder.parent if is_one_of_several else folder, request.param, makes[request.param])


def made_once(folder: Path, name: str, make: Callable[[], Played]) -> Played:
    """By the first of the processes that share the tests; the others wait for it."""
    kept = folder / f"paths-{name}.pickle"
    with (folder / f"paths-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_bytes(pickle.dumps(make()))
        played: Played = pickle.loads(kept.read_bytes())
        return played
