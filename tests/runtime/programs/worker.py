"""A worker with a few handlers, until it is told to stop by a signal. It tells what its handlers do."""

import asyncio
import os
import signal
import time
from functools import partial
from typing import Any

from msgspec import Struct

import detent
from detent.errors import LeaseLost
from detent.runtime import Context, Handler, Isolation, Settings, Worker
from detent.runtime.observing import Logging
from tests.store.processes.programs.speaking import given, tell


class Given(Struct):
    url: str
    name: str
    concurrency: int = 100
    threads: int = 16
    children: int = 1
    grace_s: float = 5.0
    isolations: tuple[str, ...] = ("async", "thread")


async def wait(ctx: Context, for_s: float) -> str:
    """Told when it begins and how it ends, by job and attempt."""
    tell(began=ctx.fence)
    ends_s = time.monotonic() + for_s
    while time.monotonic() < ends_s:
        await ctx.acheck()
        await asyncio.sleep(0.01)
    return f"attempt {ctx.attempt} of {os.getpid()}"


async def nap(for_s: float) -> None:
    await asyncio.sleep(for_s)


def zombie(ctx: Context, for_s: float, again_s: float) -> str:
    """Works on until it is told that its lease is lost, and says what it has all the same."""
    tell(began=ctx.fence)
    ends_s = time.monotonic() + (for_s if ctx.attempt == 1 else again_s)
    while time.monotonic() < ends_s:
        try:
            ctx.check()
        except LeaseLost:
            tell(lost=ctx.fence)
            return f"attempt {ctx.attempt}, too late"
        time.sleep(0.005)
    return f"attempt {ctx.attempt}"


def die(ctx: Context) -> None:
    """The whole worker goes with it."""
    tell(began=ctx.fence)
    os.kill(os.getpid(), signal.SIGKILL)


def deaf(ctx: Context, for_s: float) -> None:
    tell(began=ctx.fence)
    time.sleep(for_s)


def insert(ctx: Context) -> None:
    """One row and the end of the job: both or neither."""
    with ctx.transaction() as tx:
        tx.execute(f"insert into effects values ('{ctx.job.id}')")
        ctx.complete(tx=tx)


def handler(function: Any, isolation: Isolation, *, context: bool = True) -> Handler:
    return Handler(
        kind=function.__name__,
        function=function,
        isolation=isolation,
        wants_context=context,
        arguments=lambda payload: payload or {},
        result=lambda value: value,
    )


class Here(Logging):
    def opened(self, worker: Worker) -> None:
        tell(here=True)


HANDLERS = {
    "async": [handler(wait, "async"), handler(nap, "async", context=False)],
    "thread": [handler(zombie, "thread"), handler(die, "thread"), handler(deaf, "thread"), handler(insert, "thread")],
}


async def main(asked: Given) -> None:
    settings = Settings(
        concurrency=asked.concurrency,
        threads=asked.threads,
        children=asked.children,
        grace_s=asked.grace_s,
        reconcile_s=0.2,
        poll_s=0.05,
    )
    handlers = [each for isolation in asked.isolations for each in HANDLERS[isolation]]
    worker = Worker(partial(detent.connect, asked.url), handlers, settings=settings, name=asked.name, observer=Here())
    await worker.run(signals=(signal.SIGTERM,))
    tell(drained=True, ends=[[*key, count] for key, count in worker.tally.ends.items()])


if __name__ == "__main__":
    asyncio.run(main(given(Given)))
