"""Stores for commands to look at, in the past as much as now, and how a test calls a command."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
from click.testing import CliRunner, Result

from detent.client import Client, Codec, SyncClient
from detent.lifecycles import BUILT_IN
from detent.store.clock import Clock
from detent.store.sqlite import File, SqliteStore
from detent.surfaces.cli import main

COLUMNS = 60


def detent(*arguments: str, columns: int = COLUMNS) -> Result:
    env: dict[str, str | None] = {"COLUMNS": str(columns), "DETENT_URL": None, "DETENT_TENANT": None}
    return CliRunner(env=env).invoke(main, arguments)


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


@contextmanager
def at_time(path: Path, clock: Clock, *, tenant: str = "default") -> Iterator[SyncClient]:
    """A client of a store whose time is the test's."""
    store = SqliteStore(File(str(path)), clock=clock)
    client = SyncClient(Client(store, tenant=tenant, codec=Codec(), lifecycles=tuple(BUILT_IN.values())))
    client.open()
    try:
        yield client
    finally:
        client.close()


def succeed(client: SyncClient, *job_ids: str) -> None:
    """Full lives, four events each."""
    for job_id in job_ids:
        client.enqueue("scan", job_id=job_id)
        client.claim(worker="w1")
        client.start(job_id, worker="w1", attempt=1)
        client.complete(job_id, worker="w1", attempt=1)


def tamper(path: Path, *statements: str) -> None:
    """As somebody with another tool would: first the guard is switched off."""
    tool = apsw.Connection(str(path))
    tool.execute("drop trigger detent_records_move")
    for statement in statements:
        tool.execute(statement)
    tool.close()


def widest(text: str) -> int:
    return max(len(line) for line in text.splitlines())
