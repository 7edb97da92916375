"""How commands come to a client: the store must be there, unless the command is one that makes it."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from detent.client import SyncClient, connect
from detent.client.addresses import without_secrets
from detent.client.connecting import DEFAULT_URL
from detent.client.sync import run
from detent.lifecycle import Lifecycle
from detent.surfaces.cli.chatter import remark


@contextmanager
def opened(
    url: str | None, tenant: str, *, create: bool = False, lifecycles: Sequence[Lifecycle] = ()
) -> Iterator[SyncClient]:
    """A listing in the wrong folder says that there is no store, and leaves no empty one behind.

    A person who makes one is told where: that may be another place than was meant. A script gets what it asked for.
    """
    connecting = connect(url, tenant=tenant, lifecycles=lifecycles, create=create)
    is_watched = create and sys.stderr.isatty() and not getattr(connecting.store, "is_tended", False)
    is_new = is_watched and all(each.applied_at is None for each in run(connecting.store.migrations()))
    with connecting as client:
        if is_new:
            remark(f"Made a new store: {without_secrets(url or DEFAULT_URL)}")
        yield client
