"""From an address to a client: `sqlite:///jobs.db` is a file beside you, `sqlite:////srv/jobs.db` an absolute path."""

import os
import re
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from detent.client.client import Client
from detent.client.codec import Codec
from detent.client.sync import SyncClient
from detent.errors import InvalidArgument, shown
from detent.lifecycle import Lifecycle
from detent.lifecycle.bounds import check_kind
from detent.lifecycles import BUILT_IN
from detent.store import Keeping, Store
from detent.store.sqlite import File, SqliteStore

DEFAULT_URL: Final = "sqlite:///detent.db"
_KEPT: Final = ("receipts_s", "verbose_s")
_SECONDS_MAX: Final = {"busy_s": 86_400, **dict.fromkeys(_KEPT, 366 * 86_400)}
_SECRET: Final = re.compile(r"//[^/?#]*@")
_NUMBER: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


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
    lifecycles: Sequence[Lifecycle] = (),
    codec: Codec | None = None,
    create: bool = True,
    **settings: Any,
) -> Connecting:
    """A client of the store at `url`, or at $DETENT_URL, or in the file detent.db. An empty store is made ready.

    `tenant` scopes every verb. `lifecycles` are your own, beside the built-in ones. With `create=False` a store that is
    not there yet is not made: opening it is a `store_missing`. So is a file that is empty, or that holds only tables of
    your own. `settings` are the store's, and may also stand in the address, after a question mark: `synchronous`
    ("full" or "normal"); `busy_s`, how long a write waits for its turn; `receipts_s` and `verbose_s`, how long request
    ids, and what heartbeats said, are kept.
    """
    address = url if url is not None else os.environ.get("DETENT_URL") or DEFAULT_URL
    if codec is not None and not isinstance(codec, Codec):
        raise InvalidArgument(f"codec is {shown(codec)}; give a detent.Codec")
    check_kind("create", create, bool)
    known = (*BUILT_IN.values(), *_checked(lifecycles))
    store = store_of(address, settings, create=create)
    return Connecting(Client(store, tenant=tenant, codec=codec or Codec(), lifecycles=known))


def _checked(lifecycles: Sequence[Lifecycle]) -> Sequence[Lifecycle]:
    if not isinstance(lifecycles, Sequence) or not all(isinstance(each, Lifecycle) for each in lifecycles):
        raise InvalidArgument(f"lifecycles is {shown(lifecycles)}; give a list of detent.Lifecycle")
    return lifecycles


def store_of(url: str, settings: dict[str, Any], *, create: bool = True) -> Store:
    """The store that an address names, not yet open. Nothing is looked at or made before it is."""
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
    except ValueError:
        parts = None
    if parts is None:
        raise _bad(url, "is no address")
    if parts.fragment:
        raise _bad(url, "has a #; write it as %23 if it belongs to the name")
    if parts.scheme != "sqlite":
        known = f"names a store '{parts.scheme}' that this program does not have" if parts.scheme else "is no address"
        raise _bad(url, known)
    if parts.netloc:
        raise _bad(url, "names a host; a file has three slashes, or four from the root")
    if not url.startswith("sqlite:///"):
        raise _bad(url, "has too few slashes: a file has three, or four from the root")
    path = unquote(parts.path[1:])
    if not path or not path.isprintable():
        raise _bad(url, "names no file")
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    of_file = _settings(url, given | settings)
    kept = {name: of_file.pop(name) for name in _KEPT if name in of_file}
    return SqliteStore(File(path, create=create, **of_file), kept=Keeping(**kept))


def _settings(url: str, given: dict[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for name, value in given.items():
        if name == "synchronous" and value in ("full", "normal"):
            settings[name] = value
        elif name in _SECONDS_MAX and _is_number(value) and float(value) <= _SECONDS_MAX[name]:
            settings[name] = float(value)
        else:
            known = f"synchronous=full|normal, and in seconds {', '.join(_SECONDS_MAX)}"
            raise _bad(url, f"has a setting {name}={shown(value)}; there are {known}")
    return settings


def _is_number(value: object) -> bool:
    is_text = isinstance(value, str | int | float) and not isinstance(value, bool)
    return is_text and bool(_NUMBER.fullmatch(str(value) if isinstance(value, str | float) else shown(value)))


def _bad(url: object, what: str) -> InvalidArgument:
    """Without the password, if it has one: errors end up in logs."""
    address = _SECRET.sub("//…@", url) if isinstance(url, str) else url
    message = f"{shown(address)} {what}; use sqlite:///relative.db or sqlite:////absolute.db"
    return InvalidArgument(message, code="bad_url")
