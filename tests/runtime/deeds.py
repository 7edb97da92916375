"""Handlers that other processes run: at the top level of a module, so that they can be found."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from detent.runtime import Context


def double(number: int) -> int:
    return 2 * number


async def double_on_a_loop(ctx: Context, number: int) -> dict[str, Any]:
    await ctx.asave(number, flush=True)
    return {"doubled": 2 * number, "attempt": ctx.attempt, "pid": os.getpid()}


def spin(mark: str) -> None:
    """For ever, without ever letting anything else have the interpreter for long; and without looking up."""
    Path(mark).write_text(str(os.getpid()), encoding="utf-8")
    while True:
        pass


def listen(ctx: Context, mark: str) -> str:
    """Until it is told to stop; it leaves word of what it was told."""
    Path(mark).write_text("here", encoding="utf-8")
    try:
        while True:
            ctx.check()
            time.sleep(0.01)
    except Exception as told:
        Path(mark).write_text(type(told).__name__, encoding="utf-8")
        raise


def vanish(ctx: Context, times: int) -> str:
    """Its process ends under it, so many attempts long."""
    ctx.save(ctx.attempt, flush=True)
    if ctx.attempt <= times:
        os._exit(7)
    return f"attempt {ctx.attempt}, saved {ctx.job.checkpoint}"


def blocked(for_s: float) -> str:
    """Keeps the interpreter's lock for as long as the interpreter lets it: a loop that never waits."""
    ends_s = time.monotonic() + for_s
    while time.monotonic() < ends_s:
        pass
    return "free"


def unsendable() -> object:
    return lambda: None


def fail(message: str) -> None:
    raise LookupError(message)


class Undone(Exception):
    """Raised to have a transaction rolled back."""


def effect(ctx: Context, commits: bool) -> str:
    with suppress(Undone), ctx.transaction() as tx:
        tx.execute("insert into effects values (1)")
        ctx.complete({"by": "its own transaction"}, tx=tx)
        if not commits:
            raise Undone
    return "not looked at"


def complete_on_own_connection(ctx: Context, database: str) -> str:
    with psycopg.connect(database) as connection:
        ctx.complete({"by": "its own connection"}, tx=connection)
    return "not looked at"


def blocked_for_ever() -> None:
    while True:
        pass


def emit(ctx: Context) -> None:
    ctx.artifact("page.png", "s3://b/page.png", size=7, digest="d")
