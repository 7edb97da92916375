"""A fresh store of either kind: whatever a worker does is shown on both."""

from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"
    emptied: str = request.getfixturevalue("pg_emptied")
    return emptied
