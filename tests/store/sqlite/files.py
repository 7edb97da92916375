"""What the tests of the file share: clients on a path, a clock that only the test moves, and other processes."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from detent import DetentError, Job, SyncClient, connect
from detent.client import Client, Codec
from detent.client.connecting import Connecting
from detent.lifecycles import BUILT_IN
from detent.store.sqlite import File, SqliteStore
from detent.testing import VirtualClock

ROOT: Final = Path(__file__).parents[3]
CHILD_S_MAX: Final = 60


def opened(path: Path, **settings: Any) -> Connecting:
    """A client of the file, entered with `with` or `async with`."""
    return connect(f"sqlite:///{path}", **settings)


def timed(path: Path, clock: VirtualClock) -> Connecting:
    """The same on the test's own clock."""
    store = SqliteStore(File(str(path)), clock=clock)
    return Connecting(Client(store, tenant="default", codec=Codec(), lifecycles=tuple(BUILT_IN.values())))


@contextmanager
def raises(code: str) -> Iterator[pytest.ExceptionInfo[DetentError]]:
    """What is raised is one of Detent's own errors, of this code."""
    with pytest.raises(DetentError) as caught:
        yield caught
    assert caught.value.code == code, caught.value


def ids(client: SyncClient) -> list[str]:
    return sorted(job.id for job in client.find(limit=1000).items)


def every_job(client: SyncClient) -> Iterator[Job]:
    cursor: str | None = None
    while True:
        page = client.find(limit=1000, cursor=cursor)
        yield from page.items
        cursor = page.cursor
        if cursor is None:
            return


def is_sound(client: SyncClient) -> bool:
    """Every record stands against its log, and the file's own check finds nothing."""
    return not client.verify().violations


def run_to_success(client: SyncClient, count: int, **fields: Any) -> None:
    """So many jobs, from their first state to their end."""
    for first in range(0, count, 1000):
        client.enqueue_many({"kind": "scan", **fields} for _ in range(min(1000, count - first)))
        claimed = client.claim(worker="w", limit=1000, start=True)
        client.complete_many({"job_id": job.id, "worker": "w", "attempt": job.attempt} for job in claimed)


class Trouble(Exception):
    """What goes wrong in a caller's own code."""


@contextmanager
def undone(client: SyncClient) -> Iterator[Any]:
    """A transaction that ends in the caller's own trouble."""
    opening = client.transaction()
    yield opening.__enter__()
    is_swallowed = opening.__exit__(Trouble, Trouble(), None)
    assert not is_swallowed


def child(program: str, *arguments: object) -> Any:
    """What a program of `children.py` says, run in a process of its own."""
    done = subprocess.run(_command(program, arguments), cwd=ROOT, capture_output=True, text=True, timeout=CHILD_S_MAX)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def killed(program: str, *arguments: object) -> None:
    """A program that ends itself by SIGKILL."""
    done = subprocess.run(_command(program, arguments), cwd=ROOT, capture_output=True, text=True, timeout=CHILD_S_MAX)
    assert done.returncode == -9, done.stderr


@contextmanager
def running(program: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A program that has said it is ready, and goes on until `go_on` or the end of the block."""
    pipe = subprocess.PIPE
    with subprocess.Popen(_command(program, arguments), cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            go_on(process)
    assert process.returncode == 0


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.wait(CHILD_S_MAX)


def _command(program: str, arguments: tuple[object, ...]) -> list[str]:
    return [sys.executable, "-m", "tests.store.sqlite.children", program, *map(str, arguments)]
