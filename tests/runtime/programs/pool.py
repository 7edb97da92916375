"""A worker of a pool of `dispatch`: an app with a policy and a resolver, until it is told to stop by a signal."""

import asyncio
import signal
from typing import Any

from msgspec import Struct

from detent import App, Context, Job, PermanentError
from detent.runtime import Observer, Settings, Worker
from tests.store.processes.programs.speaking import given, tell


class Given(Struct):
    url: str
    name: str
    rules: str | None = None
    adapters: tuple[str, ...] | None = None
    concurrency: int = 100


class Here(Observer):
    def opened(self, worker: Worker) -> None:
        tell(here=True)

    def troubled(self, duty: str, error: BaseException) -> None:
        tell(troubled=duty, error=str(error))


def resolve(pointer: str) -> Any:
    tell(resolved=pointer)
    return f"what {pointer} leads to"


async def moderate(job: Job) -> tuple[str, str]:
    """A policy of the program's own."""
    if job.payload["text"] == "?":
        raise LookupError("the moderator is away")
    return ("deny", "no-shouting") if job.payload["text"].isupper() else ("allow", "polite")


def app_of(asked: Given) -> App:
    app = App(asked.url, resolver=resolve, policy=asked.rules or moderate, defaults={"lifecycle": "dispatch"})

    @app.job
    async def chat(ctx: Context, text: str) -> str:
        tell(ran=ctx.job.id, by=asked.name)
        return text.lower()

    @app.job
    def read(ctx: Context, text: str) -> Any:
        return ctx.resolve()

    @app.job
    async def refuse(text: str) -> None:
        raise PermanentError("never")

    return app


async def main(asked: Given) -> None:
    app = app_of(asked)
    settings = Settings(
        adapters=asked.adapters, concurrency=asked.concurrency, reconcile_s=0.2, poll_s=0.05, gate_s=0.2
    )  # fmt: skip
    worker = Worker(
        app.connector(), app.handlers(), settings=settings, name=asked.name, observer=Here(), resolver=app.resolver,
        policy=app.policy,
    )  # fmt: skip
    await worker.run(signals=(signal.SIGTERM,))


if __name__ == "__main__":
    asyncio.run(main(given(Given)))
