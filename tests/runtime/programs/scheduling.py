"""A worker with a schedule that ticks every second, until it is killed or told to stop. It tells of its ticks."""

import asyncio
import signal
from functools import partial

from msgspec import Struct

import detent
from detent.runtime import CronJob, Settings, Worker
from detent.runtime.observing import Logging
from tests.runtime.programs.worker import handler
from tests.store.processes.programs.speaking import given, tell


class Given(Struct):
    url: str
    name: str


async def tick() -> None: ...


class Telling(Logging):
    def ticked(self, schedule: str) -> None:
        tell(ticked=schedule)


async def main(asked: Given) -> None:
    every_second = CronJob(name="tick", cron="* * * * * *", job={"kind": "tick"})
    worker = Worker(
        partial(detent.connect, asked.url),
        [handler(tick, "async", context=False)],
        settings=Settings(poll_s=0.1, reconcile_s=0.5),
        name=asked.name,
        observer=Telling(),
        cron=[every_second],
    )
    await worker.run(signals=(signal.SIGTERM,))


if __name__ == "__main__":
    asyncio.run(main(given(Given)))
