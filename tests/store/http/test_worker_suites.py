"""What a worker does, over HTTP: suites of the runtime once more, at the address of a service."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runtime.test_context import *  # noqa: F403
from tests.runtime.test_draining import *  # noqa: F403
from tests.runtime.test_leases import *  # noqa: F403
from tests.runtime.test_running import *  # noqa: F403
from tests.store.http.serving import Serving, served


@pytest.fixture
def url(server: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The service does what time demands as often as the workers of these suites would."""
    with served(server, tmp_path, reconcile_s=0.1) as token:
        monkeypatch.setenv("DETENT_TOKEN", token)
        yield server.url
