"""What these tests share: a store of each kind, and a way to print sums, since what was done is part of the result."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.processes.stores import url_of

Show = Callable[[object], None]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store."""
    if request.param == "sqlite":
        return url_of(tmp_path)
    found: str = request.getfixturevalue("pg_url")
    return found


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str]) -> Show:
    """Past pytest's capture."""

    def shown(what: object) -> None:
        with capsys.disabled():
            print(f"\n  {what}", end="")  # noqa: T201

    return shown
