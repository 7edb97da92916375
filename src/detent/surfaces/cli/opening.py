"""How commands come to a client: the store must be there, unless the command is one that makes it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from detent.client import SyncClient, connect
from detent.lifecycle import Lifecycle


@contextmanager
def opened(
    url: str | None, tenant: str, *, create: bool = False, lifecycles: Sequence[Lifecycle] = ()
) -> Iterator[SyncClient]:
    """A listing in the wrong folder says that there is no store, and leaves no empty one behind."""
    with connect(url, tenant=tenant, lifecycles=lifecycles, create=create) as client:
        yield client
