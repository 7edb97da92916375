"""From an address to a client."""

import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final

from detent.client.addresses import store_of
from detent.client.admitting import Admission
from detent.client.client import Client
from detent.client.codec import Codec
from detent.client.sync import SyncClient
from detent.errors import InvalidArgument, shown
from detent.lifecycle import Lifecycle
from detent.lifecycle.bounds import check_kind
from detent.lifecycles import BUILT_IN
from detent.store import Store

DEFAULT_URL: Final = "sqlite:///detent.db"


class Connecting:
    """What `connect` returns: enter it with `async with` for a `Client`, with `with` for a `SyncClient`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def store(self) -> Store:
        """The store, which need not be open: its `migrations` can be asked for all the same."""
        return self._client.store

    async def __aenter__(self) -> Client:
        await self._client.open()
        return self._client

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    def __enter__(self) -> SyncClient:
        sync = SyncClient(self._client)
        sync.open()
        return sync

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        SyncClient(self._client).close()


def connect(
    url: str | None = None,
    *,
    tenant: str = "default",
    token: str | None = None,
    lifecycles: Sequence[Lifecycle] = (),
    codec: Codec | None = None,
    create: bool = True,
    admission: Admission | None = None,
    **settings: Any,
) -> Connecting:
    """A client of the store at `url`, or at $DETENT_URL, or in the file detent.db. An empty store is made ready.

    `tenant` scopes every verb: `default`, if none is named; at a service, the token's own. `token` says who asks, at an
    address of a service (http://…, https://…); else it is $DETENT_TOKEN's. `lifecycles` are your own, beside the
    built-in ones. With `create=False` a store that is not there yet is not made: opening it is a `store_missing`. So is
    a file that is empty, or that holds only tables of your own. `admission` is asked before a job is made. `settings`
    are the store's, and may also stand in the address, after a question mark: `busy_s`, how long a write waits for its
    turn; `receipts_s` and `verbose_s`, how long request ids, and what heartbeats said, are kept. Of SQLite,
    `synchronous` ("full" or "normal"). Of PostgreSQL, `connections` (3), how many at most; `prepare` (on), which is to
    be off behind a pooler that hands out single transactions; `retry_s`, how long a server may be out of reach.
    Whatever else stands in the address of a PostgreSQL server is libpq's: `sslmode`, `options`, …. Of a service,
    `connections` (8), `retry_s` (10), how long it may be out of reach, and `timeout_s` (30), for one answer.
    """
    address = address_of(url)
    if codec is not None and not isinstance(codec, Codec):
        raise InvalidArgument(f"codec is {shown(codec)}; give a detent.Codec")
    check_kind("create", create, bool)
    known = (*BUILT_IN.values(), *_checked(lifecycles))
    store = store_of(address, settings if token is None else {**settings, "token": token}, create=create)
    return Connecting(Client(store, tenant=tenant, codec=codec or Codec(), lifecycles=known, admission=admission))


def address_of(url: str | None) -> str:
    return url if url is not None else os.environ.get("DETENT_URL") or DEFAULT_URL


def _checked(lifecycles: Sequence[Lifecycle]) -> Sequence[Lifecycle]:
    if not isinstance(lifecycles, Sequence) or not all(isinstance(each, Lifecycle) for each in lifecycles):
        raise InvalidArgument(f"lifecycles is {shown(lifecycles)}; give a list of detent.Lifecycle")
    return lifecycles
