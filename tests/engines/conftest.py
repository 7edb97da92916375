"""A service in a process of its own, and engines of the npm client at it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.engines.playing import Puppet, puppet
from tests.surfaces.http.process import Service, Services


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder: Path = tmp_path_factory.mktemp("engines")
    with Services(folder).running() as running:
        yield running


@pytest.fixture
def engine(service: Service) -> Iterator[Callable[[], Puppet]]:
    """Makes them; they end with the test."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(puppet(service.url))
