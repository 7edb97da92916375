"""Waiting in both worlds: on an event loop without blocking it, and without one by blocking.

A coroutine of the client that awaits only what is here, and what a store builds from it, never suspends when no event
loop runs on its thread. So the blocking client can run it to its end by itself (`detent.sync`).
"""

import asyncio
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Result = TypeVar("Result")
Given = ParamSpec("Given")


def is_blocking() -> bool:
    """Whether the caller may be blocked: no event loop runs on its thread."""
    return asyncio._get_running_loop() is None


async def in_thread(work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
    if is_blocking():
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)


async def finished(work: Callable[[], Result], undo: Callable[[Result], object]) -> Result:
    """Like `in_thread`, for work that takes something: if the caller is cancelled meanwhile, it is given back."""
    if is_blocking():
        return work()
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(lambda done: _undo(done, undo))
        raise


def _undo(done: "asyncio.Future[Result]", undo: Callable[[Result], object]) -> None:
    if not done.cancelled() and done.exception() is None:
        undo(done.result())


async def sleep(seconds: float) -> None:
    if is_blocking():
        time.sleep(seconds)
    else:
        await asyncio.sleep(seconds)


def now_s() -> float:
    """A clock that never steps back, for measuring waits."""
    return time.monotonic()
