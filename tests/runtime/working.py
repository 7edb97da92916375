"""A worker at work on a store, for the length of a test, with handlers made from plain functions."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

import detent
from detent import Client, Job, Policy, Retry
from detent.errors import PermanentError, ValidationError
from detent.runtime import Handler, Isolation, Observer, Settings, Worker
from detent.runtime.gate import PolicySource

WAIT_S: Final = 20.0  # for what takes moments, on a machine that is busy
SHORT: Final = Policy(
    lease_s=1.0, heartbeat_s=0.5, allow_unusual_lease=True, grace_s=0.3, retry=Retry(max_attempts=3, base_s=0.01)
)


def handler(
    kind: str,
    function: Callable[..., Any],
    isolation: Isolation = "async",
    *,
    context: bool = False,
) -> Handler:
    """As an App would make it. The address is where the function stands."""
    return Handler(
        kind=kind,
        function=function,
        isolation=isolation,
        wants_context=context,
        arguments=_arguments,
        result=_result,
        address=f"{function.__module__}:{function.__qualname__}",
    )


def _arguments(payload: Any) -> dict[str, Any]:
    if payload is not None and not isinstance(payload, dict):
        raise ValidationError("the payload is no object")
    return payload or {}


def _result(value: Any) -> Any:
    if isinstance(value, set):
        raise PermanentError("a set is no result", code="no_result")
    return value


class Seen(Observer):
    """What a worker said of itself, one line each."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def failed(self, run: Any, fault: Any) -> None:
        self.lines.append(f"failed {run.handler.kind} {fault.names[0]}")

    def stopping(self, run: Any, reason: str) -> None:
        self.lines.append(f"stopping {run.handler.kind} {reason}")

    def late(self, run: Any, code: str) -> None:
        self.lines.append(f"late {run.handler.kind} {code}")

    def stalled(self, handlers: str, for_s: float, stack: str) -> None:
        self.lines.append(f"stalled {handlers}")

    def troubled(self, duty: str, error: BaseException) -> None:
        self.lines.append(f"troubled {duty} {error}")


class Working:
    """The worker, what it said, and a client of the test's own."""

    def __init__(self, worker: Worker, client: Client, seen: Seen, task: "asyncio.Task[None]") -> None:
        self.worker = worker
        self.client = client
        self.seen = seen
        self.task = task

    async def ended(self, job: Job) -> Job:
        return await self.client.wait(job.id, timeout_s=WAIT_S)

    async def done(self, kind: str, payload: Any = None, **given: Any) -> Job:
        """Enqueue a job and wait for its end."""
        return await self.ended(await self.client.enqueue(kind, payload, **given))

    async def drained(self) -> None:
        self.worker.stop()
        await asyncio.wait_for(self.task, WAIT_S)


@asynccontextmanager
async def working(
    url: str, *handlers: Handler, name: str = "w", policy: PolicySource | None = None, **settings: Any
) -> AsyncIterator[Working]:
    connect, seen = partial(detent.connect, url), Seen()
    given = {"children": 1, "threads": 4, "grace_s": 5.0, "reconcile_s": 0.1, "poll_s": 0.05, "gate_s": 0.1, **settings}
    worker = Worker(connect, handlers, settings=Settings(**given), name=name, observer=seen, policy=policy)
    async with connect() as client:
        task = asyncio.create_task(worker.run())
        try:
            yield Working(worker, client, seen, task)
        finally:
            worker.stop_now()
            await asyncio.wait_for(task, WAIT_S)
        report = await client.verify()
        assert report.violations == ()


async def until(is_so: Callable[[], bool] | Callable[[], Awaitable[bool]], wait_s: float = WAIT_S) -> None:
    """Wait until something is so; fail if it never is."""
    async with asyncio.timeout(wait_s):
        while True:
            answer = is_so()
            if answer if isinstance(answer, bool) else await answer:
                return
            await asyncio.sleep(0.01)


def on_loop(scene: Callable[..., Awaitable[None]], *given: Any) -> None:
    async def played() -> None:
        await scene(*given)

    asyncio.run(played())
