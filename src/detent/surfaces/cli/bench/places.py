"""Where to measure: beside a store, in files or schemas that are gone afterwards."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

from detent.client.addresses import store_of
from detent.store.sqlite.connection import Synchronous
from detent.store.sqlite.file import MEMORY
from detent.surfaces.cli.failure import Failure, Missing


class Place(Struct, frozen=True):
    """On a server, or in a folder; no folder: a temporary one."""

    folder: Path | None = None
    synchronous: Synchronous = "full"
    server: str | None = None

    @property
    def host(self) -> str:
        return urlsplit(self.server or "").hostname or "the server"


def place_of(url: str | None) -> Place:
    if url is None:
        return Place()
    store_of(url, {})  # refuses, with its reason, what is no address of a store
    parts = urlsplit(url)
    if parts.scheme in ("http", "https"):
        raise Failure(f"'{url}' is a service; give the address of a store, and --http to measure a service of it")
    if parts.scheme != "sqlite":
        return Place(server=url)
    path = unquote(parts.path[1:])
    if path == MEMORY:
        raise Failure(f"'{url}' is kept in memory, and only a disk can be measured; give the address of a file")
    is_normal = dict(parse_qsl(parts.query)).get("synchronous") == "normal"
    return Place(Path(path).resolve().parent, "normal" if is_normal else "full")


@contextmanager
def scratch_folder(parent: Path | None) -> Iterator[Path]:
    """A folder of our own, which is gone afterwards with all that is in it; also if it was told to end meanwhile."""
    try:
        scratch = TemporaryDirectory(prefix="detent-bench-", dir=parent)
    except FileNotFoundError as error:
        raise Missing(f"there is no folder '{parent}' to measure in; make it, or give another address") from error
    except OSError as error:
        message = f"'{parent}' takes no scratch files: {error.strerror}. Give an address in a folder that you may write"
        raise Failure(message) from error
    with scratch as name:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            yield Path(name)
        finally:
            signal.signal(signal.SIGTERM, before)
