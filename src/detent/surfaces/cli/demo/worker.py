"""A worker of the demo: a process with a worker as any program has it, and handlers that play the acts. `python -m`
runs it.
"""

import asyncio
import signal
import sys
from functools import partial
from typing import Any, Final

import msgspec

import detent
from detent.client import Client, Job
from detent.runtime import Context, Handler, Observer, Settings, Worker
from detent.runtime.run import Run
from detent.surfaces.cli.demo.acting import ACTS, Turn
from detent.surfaces.cli.demo.child import Casting, Leaving, Told, casting, tell
from detent.surfaces.cli.demo.scene import Act
from detent.surfaces.cli.demo.scenes import ALLOWED, SCENES, VERDICTS
from detent.surfaces.cli.demo.script import QUEUE

TICK_S: Final = 0.2
GRACE_S: Final = 3.0  # when it is asked to leave; nothing runs any more then but who came back too late
# Quicker than in earnest, because the leases are shorter and somebody watches.
QUICK: Final[dict[str, Any]] = {
    "look_s": 0.1, "poll_s": 0.1, "reconcile_s": 0.2, "gate_s": 0.2, "stall_s": 5.0, "retention": None,
}  # fmt: skip


class Troupe:
    """The handlers of one worker."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.worker: Worker

    def handlers(self) -> list[Handler]:
        return [self._handler(scene.kind) for scenes in SCENES.values() for scene in scenes]

    def _handler(self, kind: str) -> Handler:
        return Handler(
            kind=kind,
            function=self._play,
            isolation="async",
            wants_context=True,
            arguments=lambda payload: {"acts": msgspec.convert(payload["acts"], list[Act])},
            result=lambda value: value,
        )

    async def _play(self, ctx: Context, acts: list[Act]) -> dict[str, str]:
        """The act of this attempt; the last one is that of all further ones."""
        act = acts[min(ctx.attempt, len(acts)) - 1]
        await ACTS[act.do](Turn(ctx, act, self._client, self.worker))
        return {"by": self.worker.name}


class Watching(Observer):
    """Tells the demo what is not in the log. What goes wrong with the worker itself is for the demo's last words."""

    def __init__(self, name: str) -> None:
        self._name = name

    def late(self, run: Run, code: str) -> None:
        tell(Told("late", self._name, run.job.id, code))

    def troubled(self, duty: str, error: BaseException) -> None:
        sys.stderr.write(f"{duty}: {type(error).__name__}: {error}\n")


async def policy(job: Job) -> tuple[str, str, float]:
    """What rules over `dispatch`."""
    return VERDICTS.get(job.kind, ALLOWED)


async def serve(part: Casting, leaving: Leaving) -> None:
    connect = partial(detent.connect, part.url)
    async with connect() as client:
        troupe = Troupe(client)
        worker = troupe.worker = Worker(
            connect,
            troupe.handlers(),
            name=part.name,
            settings=Settings(queues=(QUEUE,), concurrency=part.capacity, grace_s=GRACE_S, **QUICK),
            observer=Watching(part.name),
            policy=policy,
        )
        looking = asyncio.create_task(_leave_with_the_demo(worker, leaving))
        await worker.run(signals=[signal.SIGTERM])
        looking.cancel()


async def _leave_with_the_demo(worker: Worker, leaving: Leaving) -> None:
    while not leaving.is_orphaned:
        await asyncio.sleep(TICK_S)
    worker.stop_now()


def main() -> None:
    part = casting()
    asyncio.run(serve(part, Leaving(part.parent_pid)))


if __name__ == "__main__":
    main()
