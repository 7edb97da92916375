"""`detent worker` in a process of its own, as a person starts it, held as any program of a test is."""

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Final

from detent.client import SyncClient
from tests.store.processes.program import WAIT_S, Program

HERE: Final = "tests.runtime.fleet"
LOOK_S: Final = 0.01
_LOGGED: Final = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})Z \w+ detent\.worker: (.*)$", re.MULTILINE)


class Worker(Program):
    """Of one of the apps. What its handlers tell is heard; `given` are options of the command."""

    def __init__(self, app: str, url: str, name: str, **given: object) -> None:
        super().__init__(f"worker {name}", app=app, url=url, worker=name, **given)
        self.worker = name

    def terminate(self) -> int:
        """SIGTERM, on which it drains. Its exit code, once it has."""
        os.kill(self.pid, signal.SIGTERM)
        return self._process.wait(WAIT_S)

    def logged(self) -> list[tuple[datetime, str]]:
        """Its log so far: when, and what."""
        return [(_moment(at), said) for at, said in _LOGGED.findall(self.complaints)]

    def _command(self, name: str, given: Mapping[str, object]) -> list[str]:
        options = {name: value for name, value in given.items() if name not in ("app", "url", "worker")}
        asked = ["worker", f"{HERE}.{given['app']}", "--url", str(given["url"]), "--name", str(given["worker"])]
        for option, value in options.items():
            asked += [f"--{option.replace('_', '-')}", str(value)]
        return [sys.executable, "-m", "detent", *asked]


def _moment(stamp: str) -> datetime:
    return datetime.fromisoformat(stamp).replace(tzinfo=UTC)


@contextmanager
def at_work(
    client: SyncClient, app: str, url: str, names: Sequence[str], **given: object
) -> Iterator[dict[str, Worker]]:
    """Workers by name, all of which have told the store that they are there. Leaving the block kills them."""
    with ExitStack() as running:
        workers = {name: running.enter_context(Worker(app, url, name, **given)) for name in names}
        for worker in workers.values():
            until_reported(client, worker)
        yield workers


def until_reported(client: SyncClient, worker: Worker) -> None:
    until(lambda: any(each.pid == worker.pid for each in client.workers()), f"worker {worker.worker} is not there")


def until(is_so: Callable[[], object], otherwise: str, wait_s: float = WAIT_S) -> None:
    ends_s = time.monotonic() + wait_s
    while not is_so():
        if time.monotonic() > ends_s:
            raise AssertionError(f"{otherwise}, {wait_s:g} s long")
        time.sleep(LOOK_S)
