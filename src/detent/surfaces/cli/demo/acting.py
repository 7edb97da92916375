"""How an attempt goes: each act is a generator that does something and yields how long it waits before the next thing.

An act that loses its job learns it from a refusal, which ends it; the worker's loop takes note.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from detent.client import Job, SyncClient
from detent.errors import Refused
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli.demo.child import Told, tell
from detent.surfaces.cli.demo.scene import BEAT_S, Act, Deed

HELD_S: Final = 0.05  # between a claim and its start, so that both can be seen
Acting = Iterator[float]


class Heeded(Exception):
    """The worker was asked to stop, and has stopped."""


class Turn:
    """One attempt at one job, in one worker's hands: its fence, and the verbs that need it."""

    def __init__(self, client: SyncClient, worker: str, job: Job) -> None:
        self.client = client
        self.worker = worker
        self.job = job
        acts = msgspec.convert(job.payload["acts"], list[Act])
        self.act = acts[min(job.attempt, len(acts)) - 1]

    @property
    def mine(self) -> dict[str, Any]:
        fence: dict[str, Any] = {"worker": self.worker, "attempt": self.job.attempt}
        return fence | ({"expected_rev": self.job.rev} if BUILT_IN[self.job.lifecycle].requires_rev else {})

    def start(self) -> None:
        if self.job.phase == "held":
            self.job = self.client.start(self.job.id, **self.mine)

    def renew(self, **said: Any) -> None:
        self.job = self.client.renew(self.job.id, **said, **self.mine)

    def stop_if_asked(self) -> None:
        if self.job.is_cancel_requested:
            self.client.cancel(self.job.id, reason="asked to stop", **self.mine)
            raise Heeded

    def complete(self) -> None:
        self.client.complete(self.job.id, result={"by": self.worker}, **self.mine)


def work(turn: Turn) -> Acting:
    """Step by step, from where the last attempt left off; after each step a heartbeat with a checkpoint."""
    act = turn.act
    yield from _begin(turn)
    done = (turn.job.checkpoint or {}).get("step", 0)
    for step in range(done + 1, act.steps + 1):
        yield act.for_s / act.steps
        if step < act.steps:
            turn.renew(checkpoint={"step": step}, progress={"fraction": step / act.steps, "message": f"step {step}"})
            turn.stop_if_asked()
    turn.complete()


def fail(turn: Turn) -> Acting:
    yield from _begin(turn)
    yield turn.act.for_s
    error = {"type": turn.act.error, "message": turn.act.message}
    turn.client.fail(turn.job.id, error=error, **turn.mine)


def vanish(turn: Turn) -> Acting:
    """Silent for longer than the lease; then it comes back with a result, as if nothing had happened."""
    yield from _begin(turn)
    turn.client.progress(turn.job.id, 0.5, "half-way", worker=turn.worker, attempt=turn.job.attempt)
    yield turn.act.for_s
    turn.complete()


def linger(turn: Turn) -> Acting:
    """At work and deaf: it goes on renewing until it is no longer let."""
    yield from _begin(turn)
    yield from _beats(turn)
    turn.complete()


def idle(turn: Turn) -> Acting:
    """It took the job, says that it is alive, and never starts."""
    yield from _beats(turn)
    turn.start()
    turn.complete()


def stall(turn: Turn) -> Acting:
    yield from _begin(turn)
    yield turn.act.for_s
    turn.client.stall(turn.job.id, reason="cannot go on now", **turn.mine)


def release(turn: Turn) -> Acting:
    yield from _begin(turn)
    yield turn.act.for_s
    turn.client.release(turn.job.id, checkpoint={"step": 0}, reason="making room", **turn.mine)


def hasten(turn: Turn) -> Acting:
    """So quick that the result is also the start."""
    yield turn.act.for_s
    turn.complete()


def misread(turn: Turn) -> Acting:
    """A decision on an old revision is refused; the job is read again, and decided anew."""
    yield from _begin(turn)
    yield turn.act.for_s
    old = turn.mine | {"expected_rev": turn.job.rev - 1}
    try:
        turn.client.complete(turn.job.id, **old)
    except Refused as refused:
        tell(Told("misread", turn.worker, turn.job.id, refused.code))
        turn.job = turn.client.get(turn.job.id)
    turn.complete()


def _begin(turn: Turn) -> Acting:
    yield HELD_S
    turn.start()


def _beats(turn: Turn) -> Acting:
    for _ in range(round(turn.act.for_s / BEAT_S)):
        yield BEAT_S
        turn.renew()


ACTS: Final[dict[Deed, Callable[[Turn], Acting]]] = {
    "work": work,
    "fail": fail,
    "vanish": vanish,
    "linger": linger,
    "idle": idle,
    "stall": stall,
    "release": release,
    "hasten": hasten,
    "misread": misread,
}
