"""A folder with an app in it, and workers that are started there as a person starts them."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from detent.client import Job, SyncClient, connect
from tests.surfaces.running import ROOT, Site
from tests.surfaces.terminal import Terminal

WAIT_S: Final = 40.0
APP: Final = """
import asyncio
import os
import pathlib
import time

from detent import App, Context, Cron

app = App(defaults={"lease_s": 5, "heartbeat_s": 1, "allow_unusual_lease": True})
number = 7


@app.job(queue="ocr")
async def scan(page: int) -> int:
    print("scanned", page, flush=True)
    return page + 1


@app.job
def pid() -> int:
    return os.getpid()


@app.job(isolation="process")
def child_url() -> str:
    return app.url or ""


@app.job
async def linger(ctx: Context, mark: str) -> None:
    pathlib.Path(mark).touch()
    while True:
        await ctx.acheck()
        await asyncio.sleep(0.01)


@app.job
async def sleep(mark: str) -> None:
    pathlib.Path(mark).touch()
    await asyncio.sleep(3600)


@app.job
def deaf(mark: str) -> None:
    pathlib.Path(mark).touch()
    time.sleep(1.0)


@app.job
async def fail() -> None:
    raise LookupError("no such page")


@app.job(queue="reports", cron=Cron("0 3 * * *", zone="Europe/Berlin"))
async def report() -> None: ...
"""


class Workers:
    """Starts workers in a folder with `shop.py`, on a store; each is killed at the end if it is still there."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        (folder / "shop.py").write_text(APP, encoding="utf-8")

    def client(self) -> Any:
        return connect(self.url)

    @contextmanager
    def at_work(self, *arguments: str, target: str = "shop:app") -> Iterator["subprocess.Popen[str]"]:
        with self._site().process("worker", target, *arguments, env=_path(), cwd=self.folder) as process:
            try:
                yield process
            finally:
                process.kill()

    def on_terminal(self, *arguments: str) -> Terminal:
        """With a person in front of it."""
        path = os.pathsep.join([str(self.folder), _path()["PYTHONPATH"]])
        return Terminal(self._site(), "worker", "shop:app", *arguments, columns=100, PYTHONPATH=path)

    def _site(self) -> Site:
        site = Site(self.folder)
        site.url = self.url
        return site

    def refused(self, target: str, *arguments: str) -> tuple[int, str]:
        """Of a worker that does not come to work: its exit code, and what it said, in one line."""
        with self.at_work(*arguments, target=target) as process:
            _, said = process.communicate(timeout=WAIT_S)
        return process.returncode, " ".join(said.split())


def _path() -> dict[str, str]:
    """Started in another folder, it finds what the tests find."""
    return {"PYTHONPATH": os.pathsep.join(each for each in (str(ROOT / "src"), os.environ.get("PYTHONPATH")) if each)}


def ended(process: "subprocess.Popen[str]", *signals: int) -> tuple[int, str, str]:
    """After these signals: exit code, stdout and stderr."""
    for each in signals:
        process.send_signal(each)
    out, err = process.communicate(timeout=WAIT_S)
    return process.returncode, out, err


def stopped(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    return ended(process, signal.SIGTERM)


def done(client: SyncClient, kind: str, payload: Any = None, queue: str = "default") -> Job:
    """Make a job, and wait until a worker has ended it."""
    return client.wait(client.enqueue(kind, payload, queue=queue).id, timeout_s=WAIT_S)


def until(is_so: Callable[[], object]) -> None:
    ends_s = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < ends_s, "it never came to be"
        time.sleep(0.02)
