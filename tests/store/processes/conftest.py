"""What these tests share: a store of each kind."""

from pathlib import Path

import pytest

from tests.store.processes.stores import url_of


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store."""
    if request.param == "sqlite":
        return url_of(tmp_path)
    found: str = request.getfixturevalue("pg_url")
    return found
