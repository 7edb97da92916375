"""From an address to a client: `sqlite:///jobs.db` is a file beside you, `sqlite:////srv/jobs.db` an absolute path."""

import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from detent.client.client import Client
from detent.client.codec import Codec
from detent.client.sync import SyncClient
from detent.errors import InvalidArgument
from detent.lifecycle import Lifecycle
from detent.lifecycles import BUILT_IN
from detent.store import Store
from detent.store.sqlite import File, SqliteStore

DEFAULT_URL: Final = "sqlite:///detent.db"


class Connecting:
    """What `connect` returns: enter it with `async with` for a `Client`, with `with` for a `SyncClient`."""

    def __init__(self, client: Client) -> None:
        self._client = client

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
    lifecycles: Sequence[Lifecycle] = (),
    codec: Codec | None = None,
    **settings: Any,
) -> Connecting:
    """A client of the store at `url`, or at $DETENT_URL, or in the file detent.db. An empty store is made ready.

    `tenant` scopes every verb. `lifecycles` are your own, beside the built-in ones. `settings` are the store's: for
    SQLite `synchronous` ("full" or "normal") and `busy_s`; they may also stand in the address, after a question mark.
    """
    store = store_of(url or os.environ.get("DETENT_URL") or DEFAULT_URL, settings)
    known = (*BUILT_IN.values(), *lifecycles)
    return Connecting(Client(store, tenant=tenant, codec=codec or Codec(), lifecycles=known))


def store_of(url: str, settings: dict[str, Any]) -> Store:
    try:
        parts = urlsplit(url)
    except (ValueError, AttributeError, TypeError):
        raise _bad(url, "is no address") from None
    if parts.scheme != "sqlite":
        raise _bad(url, f"names a store '{parts.scheme}' that this program does not have")
    if parts.netloc:
        raise _bad(url, "names a host; a file has three slashes, or four from the root")
    path = unquote(parts.path[1:])
    if not path or "\0" in path:
        raise _bad(url, "names no file")
    return SqliteStore(File(path, **_settings(url, dict(parse_qsl(parts.query)) | settings)))


def _settings(url: str, given: dict[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for name, value in given.items():
        if name == "synchronous" and value in ("full", "normal"):
            settings[name] = value
        elif name == "busy_s" and _is_number(value):
            settings[name] = float(value)
        else:
            raise _bad(url, f"has a setting {name}={value!r}; there are synchronous=full|normal and busy_s=SECONDS")
    return settings


def _is_number(value: object) -> bool:
    return str(value).replace(".", "", 1).isdecimal()


def _bad(url: object, what: str) -> InvalidArgument:
    return InvalidArgument(f"{url!r} {what}; use sqlite:///relative.db or sqlite:////absolute.db", code="bad_url")
