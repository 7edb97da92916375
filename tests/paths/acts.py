"""What handlers do on a failure path, act by act: one for each attempt, the last one for all that follow."""

import asyncio
import builtins
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, NoReturn

from detent import errors
from detent.errors import Cancelled, LeaseLost, Stopped, TransientError
from detent.runtime import Context


class Undone(Exception):
    """Raised to have a transaction rolled back."""


def act_of(ctx: Context, acts: list[str]) -> str:
    """A job that comes of another one, to run it again or to undo it, goes on with the act after that one's."""
    job = ctx.job
    number = max(ctx.attempt - 1, job.retries, int(job.parent_job_id is not None))
    return acts[min(number, len(acts) - 1)]


def throw(name: str) -> NoReturn:
    """By the name of its class: one of Detent's own, one of Python's, or one that nobody has heard of."""
    kind = getattr(errors, name, None) or getattr(builtins, name, None) or type(name, (Exception,), {})
    raise kind("as the act wants it")


async def wait(ctx: Context) -> None:
    while True:
        await ctx.acheck()
        await asyncio.sleep(0.01)


async def wait_deaf(ctx: Context) -> None:
    await asyncio.Event().wait()


async def save(ctx: Context) -> None:
    """It leaves word of how far it came, and is not heard of again."""
    await ctx.asave({"page": 1}, flush=True)
    await wait_deaf(ctx)


async def save_at_the_end(ctx: Context) -> None:
    try:
        await wait(ctx)
    except Stopped:
        await ctx.asave({"page": 1})
        raise


async def resume(ctx: Context) -> Any:
    return ctx.checkpoint


async def finish_anyway(ctx: Context) -> str:
    with suppress(Cancelled):
        await wait(ctx)
    return "done anyway"


async def fail_when_told(ctx: Context) -> None:
    try:
        await wait(ctx)
    except Cancelled:
        raise TransientError("could not stop well") from None


async def fail_finally_when_told(ctx: Context) -> None:
    try:
        await wait(ctx)
    except Cancelled:
        throw("PermanentError")


async def await_what_is_cancelled(ctx: Context) -> None:
    """A cancellation that nobody asked this job for."""
    task = asyncio.ensure_future(asyncio.Event().wait())
    asyncio.get_running_loop().call_soon(task.cancel)
    await task


async def emit(ctx: Context) -> None:
    await ctx.aartifact("page", "memory://page")
    await wait_deaf(ctx)


async def emit_and_fail(ctx: Context) -> None:
    await ctx.aartifact("page", "memory://page")
    throw("PermanentError")


async def report_and_fail(ctx: Context) -> None:
    ctx.progress(0.5, "halfway")
    throw("PermanentError")


async def roll_back(ctx: Context) -> None:
    with suppress(Undone):
        async with ctx.atransaction() as tx:
            await ctx.acomplete("not to be seen", tx=tx)
            raise Undone


async def return_what_is_no_result(ctx: Context) -> object:
    return object()


async def succeed(ctx: Context) -> None: ...


ASYNC: Final[dict[str, Callable[[Context], Awaitable[Any]]]] = {
    each.__name__: each
    for each in (
        succeed, wait, wait_deaf, save, save_at_the_end, resume, finish_anyway, fail_when_told, fail_finally_when_told,
        await_what_is_cancelled, emit, emit_and_fail, report_and_fail, roll_back, return_what_is_no_result,
    )
}  # fmt: skip


async def play(ctx: Context, acts: list[str]) -> Any:
    act = act_of(ctx, acts)
    if act.startswith("raise "):
        throw(act.removeprefix("raise "))
    return await ASYNC[act](ctx)


def play_in_thread(ctx: Context, acts: list[str]) -> Any:
    """`linger`: until it is told that the job is not its own any more; and it says what it has all the same."""
    act = act_of(ctx, acts)
    if act.startswith("raise "):
        throw(act.removeprefix("raise "))
    if act == "succeed":
        return None
    try:
        while True:
            ctx.check()
            time.sleep(0.005)
    except (LeaseLost, Cancelled):
        return "too late"


def play_apart(ctx: Context, acts: list[str]) -> Any:
    """`exit`: its process ends under it. `spin`: it never lets go, and never looks up."""
    act = act_of(ctx, acts)
    if act.startswith("raise "):
        throw(act.removeprefix("raise "))
    if act == "exit":
        os._exit(7)
    while act == "spin":
        pass
    return None
