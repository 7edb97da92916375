"""A fresh store on a clock that only the test moves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.world import World


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.close()
