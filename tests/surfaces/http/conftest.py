"""One service for the tests of a module; each makes jobs of its own."""

from collections.abc import Iterator

import pytest

from tests.surfaces.http.serving import Served, served


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("service"), reconcile_s=None) as one:
        yield one
