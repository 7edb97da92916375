"""One store to a test, in a folder of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.sqlite.by_hand import Hand


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def hand(path: Path) -> Iterator[Hand]:
    hand = Hand(path)
    yield hand
    hand.db.close()
