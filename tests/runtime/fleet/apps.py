"""What the workers of a fleet run: one app for each scene, so that no worker starts more than its scene needs.

What a handler tells goes to the standard output of its process, a line of JSON each, as the programs of tests do it.
"""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg

from detent import App, Context
from detent.errors import LeaseLost
from tests.store.processes.programs.speaking import tell

LOOK_S: Final = 0.01
MIDST_S: Final = 0.002  # between the row and the end of its job, so that a kill may well come there

lost, deadly, fragile, blocked, blocking = (App() for _ in range(5))
undead, endless, effects, rolling = (App() for _ in range(4))


# -- a worker is killed under these


@lost.job
async def outlive(ctx: Context) -> int:
    """The first attempt has no end of its own."""
    tell(began=ctx.fence)
    if ctx.attempt == 1:
        await asyncio.Event().wait()
    return ctx.attempt


# -- these kill


@deadly.job
def die(ctx: Context) -> None:
    """The whole worker goes with it."""
    tell(began=ctx.fence)
    os.kill(os.getpid(), signal.SIGKILL)


@fragile.job(isolation="process")
def vanish(ctx: Context) -> None:
    """Its own process only."""
    tell(began=ctx.fence)
    os._exit(7)


# -- these let nobody else have their turn


@blocked.job
def keep_a_thread(for_s: float) -> str:
    return _spin(for_s)


@blocked.job(isolation="process")
def keep_a_process(for_s: float) -> str:
    return _spin(for_s)


@blocking.job
async def keep_the_loop(for_s: float) -> str:
    return _spin(for_s)


def _spin(for_s: float) -> str:
    ends_s = time.monotonic() + for_s
    while time.monotonic() < ends_s:
        pass
    return "free"


# -- the workers of these stand still past their leases


@undead.job
def linger(ctx: Context, until: str) -> str:
    """The first attempt goes on until it is told, and says what it has all the same; the second until it may end."""
    tell(began=ctx.fence)
    while not _may_end(ctx, until):
        try:
            ctx.check()
        except LeaseLost:
            tell(lost=ctx.fence)
            break
        time.sleep(LOOK_S)
    return f"attempt {ctx.attempt}"


@undead.job
async def alinger(ctx: Context, until: str) -> str:
    tell(began=ctx.fence)
    while not _may_end(ctx, until):
        try:
            await ctx.acheck()
        except LeaseLost:
            tell(lost=ctx.fence)
            break
        await asyncio.sleep(LOOK_S)
    return f"attempt {ctx.attempt}"


@undead.job(isolation="process")
def plinger(ctx: Context, until: str) -> str:
    return linger(ctx, until)


def _may_end(ctx: Context, until: str) -> bool:
    return ctx.attempt > 1 and (not until or Path(until).exists())


# -- this one has to be killed


@endless.job(isolation="process")
def spin(ctx: Context) -> None:
    tell(began=ctx.fence, pid=os.getpid())
    while True:
        pass


# -- one row and the end of the job: both or neither


_open = threading.local()


@effects.job
def insert(ctx: Context) -> None:
    with _transaction(ctx) as tx:
        tx.execute(f"insert into effects values ('{ctx.job.id}', {ctx.attempt})")
        time.sleep(MIDST_S)
        ctx.complete({"attempt": ctx.attempt}, tx=tx)


@contextmanager
def _transaction(ctx: Context) -> Iterator[Any]:
    """On PostgreSQL on a connection of the program's own, which its thread keeps, as programs do."""
    url = effects.url or ""
    if url.startswith("sqlite"):
        with ctx.transaction() as tx:
            yield tx
        return
    if not hasattr(_open, "connection"):
        _open.connection = psycopg.connect(url, autocommit=True)
    with _open.connection.transaction():
        yield _open.connection


# -- these are interrupted by restarts


async def nap(for_s: float) -> None:
    await asyncio.sleep(for_s)


for _lifecycle in ("standard", "contract", "document"):
    rolling.job(kind=f"nap_{_lifecycle}", lifecycle=_lifecycle)(nap)
