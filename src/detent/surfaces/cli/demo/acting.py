"""How an attempt goes: each act is a coroutine, and the handler of every job of the demo plays the one that is on.

What handlers owe is theirs: to save, to check, to return or raise. The lease, the end and the record are the worker's.
"""

import asyncio
from collections.abc import Awaitable, Callable
from math import inf
from time import monotonic
from typing import Any, Final

from msgspec import Struct

from detent.client import Client
from detent.errors import JobError, PermanentError, Refused, TransientError, ValidationError
from detent.lifecycles import BUILT_IN
from detent.runtime import Context, Worker
from detent.surfaces.cli.demo.child import Told, tell
from detent.surfaces.cli.demo.scene import Act, Deed

STUBBORN_S: Final = 1.5  # how long a deaf handler goes on once it was stopped: longer than it is waited for
LOOKS_MAX: Final = 200
LOOK_S: Final = 0.05
TRIES_MAX: Final = 5
ERRORS: Final[dict[str, type[JobError]]] = {
    each.__name__: each for each in (PermanentError, TransientError, ValidationError)
}


class Turn(Struct, frozen=True):
    """One attempt at one job. `client` is for the verbs that no context has."""

    ctx: Context
    act: Act
    client: Client
    worker: Worker

    async def as_owner(self, verb: Callable[..., Awaitable[Any]], **said: Any) -> None:
        """A verb on the job as it is now; where a revision is demanded a heartbeat may come in between."""
        fence: dict[str, Any] = {"worker": self.worker.name, "attempt": self.ctx.attempt}
        job = self.ctx.job
        for tries_left in reversed(range(TRIES_MAX)):
            if BUILT_IN[job.lifecycle].requires_rev:
                fence["expected_rev"] = (await self.client.get(job.id)).rev
            try:
                await verb(job.id, **said, **fence)
            except Refused as refused:
                if refused.code != "stale_rev" or not tries_left:
                    raise
            else:
                return

    async def hear_that_it_is_gone(self) -> None:
        """The job was given away: wait until the worker has noticed, which ends the handler."""
        for _ in range(LOOKS_MAX):
            await asyncio.sleep(LOOK_S)
            self.ctx.check()


async def work(turn: Turn) -> None:
    """Step by step, from where the last attempt left off; after each step a checkpoint."""
    act, ctx = turn.act, turn.ctx
    done = (ctx.checkpoint or {}).get("step", 0)
    for step in range(done + 1, act.steps + 1):
        await asyncio.sleep(act.for_s / act.steps)
        if step < act.steps:
            ctx.progress(step / act.steps, f"step {step}")
            await ctx.asave({"step": step}, flush=True)
            await ctx.acheck()


async def fail(turn: Turn) -> None:
    await asyncio.sleep(turn.act.for_s)
    raise ERRORS[turn.act.error](turn.act.message)


async def vanish(turn: Turn) -> None:
    """Silent for longer than the lease, as if cut off; then it comes back with a result, as if nothing had happened."""
    turn.worker.live[turn.ctx.fence].renew_s = inf
    turn.ctx.progress(0.5, "half-way")
    await _deaf(turn.act.for_s)


async def linger(turn: Turn) -> None:
    """At work and deaf: it goes on, whatever it is told."""
    await _deaf(turn.act.for_s)


async def stall(turn: Turn) -> None:
    await asyncio.sleep(turn.act.for_s)
    await turn.as_owner(turn.client.stall, reason="cannot go on now")
    await turn.hear_that_it_is_gone()


async def release(turn: Turn) -> None:
    await asyncio.sleep(turn.act.for_s)
    await turn.as_owner(turn.client.release, checkpoint={"step": 0}, reason="making room")
    await turn.hear_that_it_is_gone()


async def misread(turn: Turn) -> None:
    """A decision on an old revision is refused; what the handler returns is decided anew, on the job as it is."""
    await asyncio.sleep(turn.act.for_s)
    job = turn.ctx.job
    try:
        await turn.client.complete(
            job.id, worker=turn.worker.name, attempt=job.attempt, expected_rev=job.rev - 1
        )  # fmt: skip
    except Refused as refused:
        tell(Told("misread", turn.worker.name, job.id, refused.code))


async def _deaf(for_s: float) -> None:
    until_s = monotonic() + for_s
    while (left_s := until_s - monotonic()) > 0:
        try:
            await asyncio.sleep(left_s)
        except asyncio.CancelledError:
            until_s = min(until_s, monotonic() + STUBBORN_S)


ACTS: Final[dict[Deed, Callable[[Turn], Awaitable[None]]]] = {
    "work": work,
    "fail": fail,
    "vanish": vanish,
    "linger": linger,
    "stall": stall,
    "release": release,
    "misread": misread,
}
