"""The pytest plugin: fixtures for tests of an app's jobs. It is loaded wherever Detent and pytest are installed.

`detent_app` and `detent_url` are there to be overridden in a conftest.py: which app is meant, and on which store.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from detent.app import App
    from detent.testing.trial import Trial

# Detent itself is imported by the tests that use it: others are to start as quickly as before.


@pytest.fixture
def detent_app() -> "App":
    """The app under test: an empty one, unless you override this with your own."""
    from detent.app import App

    return App()


@pytest.fixture
def detent_url(tmp_path: Path) -> str:
    """Where the jobs of a test are kept: a file that pytest removes in time. An empty database does as well."""
    return f"sqlite:///{tmp_path}/detent-trial.db?synchronous=normal"


@pytest.fixture
def jobs(detent_app: "App", detent_url: str) -> "Iterator[Trial]":
    """`detent_app` on a store of its own, with a clock that you move, and a worker that runs what is due."""
    from detent.testing.trial import Trial

    with Trial(detent_app, detent_url) as trial:
        yield trial
