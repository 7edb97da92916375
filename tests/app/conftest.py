"""An app on an empty store of either kind: as it is, and on trial."""

from collections.abc import Iterator

import pytest

from detent import App
from detent.testing.plugin import detent_app, jobs
from tests.client.conftest import store_kind, url

__all__ = ["detent_app", "jobs", "store_kind", "url"]


@pytest.fixture
def detent_url(url: str) -> str:
    return url


@pytest.fixture
def app(url: str) -> Iterator[App]:
    with App(url) as app:
        yield app
