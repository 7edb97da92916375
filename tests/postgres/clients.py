"""Clients of a database, for tests that watch it from both sides."""

from typing import Any

from detent import connect
from detent.client import Client, Codec
from detent.client.connecting import Connecting
from detent.lifecycles import BUILT_IN
from detent.store.clock import Clock
from detent.store.postgres import Address, PostgresStore


def opened(url: str, **settings: Any) -> Connecting:
    """Entered with `with` or `async with`."""
    return connect(url, **settings)


def timed(url: str, clock: Clock, **settings: Any) -> Connecting:
    """The same on the test's own clock."""
    store = PostgresStore(Address(url=url, **settings), clock=clock)
    return Connecting(Client(store, tenant="default", codec=Codec(), lifecycles=tuple(BUILT_IN.values())))
