"""How handlers are stopped, over HTTP: the suite of the runtime once more, where only the worker itself stops them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runtime.test_cancelling import *  # noqa: F403
from tests.store.http.serving import Serving, served


@pytest.fixture
def url(server: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with served(server, tmp_path, reconcile_s=60) as token:
        monkeypatch.setenv("DETENT_TOKEN", token)
        yield server.url
