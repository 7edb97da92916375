"""A bus, and services on it, in processes of their own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.bus.server import NatsServer
from tests.bus.site import BusSite


@pytest.fixture
def nats_server(tmp_path: Path) -> Iterator[NatsServer]:
    with NatsServer(tmp_path) as server:
        yield server


@pytest.fixture
def start(nats_server: NatsServer, tmp_path: Path) -> Iterator[Callable[..., BusSite]]:
    """Starts a service with these settings; it ends with the test."""
    with ExitStack() as stack:
        yield lambda settings="", *arguments: stack.enter_context(
            BusSite(tmp_path, nats_server.url, settings, *arguments)
        )


@pytest.fixture
def site(start: Callable[..., BusSite]) -> BusSite:
    return start()
