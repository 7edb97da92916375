"""An app on an empty store of either kind."""

from collections.abc import Iterator

import pytest

from detent import App
from tests.client.conftest import store_kind, url

__all__ = ["store_kind", "url"]


@pytest.fixture
def app(url: str) -> Iterator[App]:
    with App(url) as app:
        yield app
