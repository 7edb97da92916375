"""A store that is not there yet: whoever opens it first makes it."""

from pathlib import Path

import pytest

from tests.surfaces.running import Site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)
