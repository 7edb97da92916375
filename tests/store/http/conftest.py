"""One server for all tests of a module."""

from collections.abc import Iterator

import pytest

from tests.store.http.serving import Serving, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving() as server:
        yield server
