"""Waiting in both worlds: on an event loop without blocking it, and without one by blocking.

A coroutine of the client that awaits only what is here, and what a store builds from it, never suspends when no event
loop runs on its thread. So the blocking client can run it to its end by itself (`detent.client.sync`).
"""

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

Result = TypeVar("Result")


def is_blocking() -> bool:
    """Whether the caller may be blocked: no event loop runs on its thread."""
    return asyncio._get_running_loop() is None


async def in_thread(work: Callable[[], Result], undo: Callable[[Result], object] | None = None) -> Result:
    """On a thread of its own: it waits behind nothing else, and is finished whatever becomes of the caller.

    If the caller is cancelled meanwhile, `undo` gives back what the work took.
    """
    if is_blocking():
        return work()
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()
    threading.Thread(target=_run, args=(work, undo, future, loop), name="detent-task", daemon=True).start()
    try:
        return await future
    except asyncio.CancelledError:
        if undo is not None and future.done() and not future.cancelled() and future.exception() is None:
            _start_undo(undo, future.result())  # answered, but the caller was cancelled before it could hear
        raise


def _run(
    work: Callable[[], Result],
    undo: Callable[[Result], object] | None,
    future: "asyncio.Future[Result]",
    loop: asyncio.AbstractEventLoop,
) -> None:
    try:
        result = work()
    except BaseException as error:  # whoever asked hears of it
        _tell(loop, partial(_fail, future, error))
        return

    def settle() -> None:
        if not future.done():
            future.set_result(result)
        elif undo is not None:
            _start_undo(undo, result)

    if not _tell(loop, settle) and undo is not None:
        undo(result)


def _fail(future: "asyncio.Future[Result]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


def _tell(loop: asyncio.AbstractEventLoop, settle: Callable[[], object]) -> bool:
    """Whether the loop is there to be told. If it is closed, nobody waits any more."""
    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:
        if not loop.is_closed():
            raise
        return False
    return True


def _start_undo(undo: Callable[[Result], object], result: Result) -> None:
    threading.Thread(target=undo, args=(result,), name="detent-undo", daemon=True).start()


def pause(seconds: float) -> None:
    """On a thread that may be blocked."""
    time.sleep(seconds)


async def sleep(seconds: float) -> None:
    if is_blocking():
        time.sleep(seconds)
    else:
        await asyncio.sleep(seconds)


def now_s() -> float:
    """A clock that never steps back, for measuring waits."""
    return time.monotonic()
