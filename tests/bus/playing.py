"""Programs on the bus, as their authors write them with the protocol's own SDK: who submits, who works, who listens."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final

import nats
from cap.client import submit_job
from cap.pb.cordum.agent.v1 import buspacket_pb2, job_pb2
from cap.worker import run_worker
from nats.aio.client import Client as Connection
from nats.aio.msg import Msg

WAIT_S: Final = 15.0
LOOK_AGAIN_S: Final = 0.02
TOPIC: Final = "job.chat.simple"
SENDER: Final = "gateway-1"
WORKER: Final = "worker-1"
RECONNECT_S: Final = 0.1
DRAIN_S: Final = 1  # for handlers that never end
Request = Any  # of the SDK's generated classes, which carry no types
Result = Any
Handler = Callable[[Request], Awaitable[Result]]


async def connected(**options: Any) -> Connection:
    """As run_worker asks for it, and back sooner after the bus was away."""
    usual: dict[str, Any] = {
        "drain_timeout": DRAIN_S, "max_reconnect_attempts": -1, "reconnect_time_wait": RECONNECT_S,
        "error_cb": _unheard,
    }  # fmt: skip
    return await nats.connect(**usual | options)


async def _unheard(error: Exception) -> None:
    """The bus is away, which is what some tests are about."""


@asynccontextmanager
async def connection(url: str) -> AsyncIterator[Connection]:
    made = await connected(servers=url)
    try:
        yield made
    finally:
        await made.close()


def job(job_id: str, topic: str = TOPIC, **fields: Any) -> Request:
    return job_pb2.JobRequest(job_id=job_id, topic=topic, context_ptr=f"redis://ctx/{job_id}", **fields)


async def submit(bus: Connection, *requests: Request, key: Any = None, sender: str = SENDER) -> None:
    for request in requests:
        await submit_job(bus, request, f"trace-{request.job_id}", sender, key)
    await bus.flush()


@asynccontextmanager
async def worker(url: str, handler: Handler, topic: str = TOPIC, **options: Any) -> AsyncIterator[None]:
    """Until the block is left, when it goes in good order."""
    subscribed = asyncio.Event()

    async def connect(**asked: Any) -> Any:
        made = await connected(**asked)
        subscribe = made.subscribe

        async def subscribing(*arguments: Any, **more: Any) -> Any:
            subscription = await subscribe(*arguments, **more)
            await made.flush()
            subscribed.set()
            return subscription

        made.subscribe = subscribing  # type: ignore[method-assign]  # to know when it is there
        return made

    asked: dict[str, Any] = {"sender_id": WORKER, "connect_fn": connect} | options
    running = asyncio.create_task(run_worker(url, topic, handler, **asked))
    try:
        await asyncio.wait_for(subscribed.wait(), WAIT_S)
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def succeed(request: Request) -> Result:
    return job_pb2.JobResult(
        status=job_pb2.JOB_STATUS_SUCCEEDED, result_ptr=f"redis://res/{request.job_id}", execution_ms=7
    )


class Ear:
    """All that is said on a subject, from when it began to listen."""

    def __init__(self) -> None:
        self.packets: list[Any] = []

    async def hear(self, message: Msg) -> None:
        packet = buspacket_pb2.BusPacket()
        packet.ParseFromString(message.data)
        self.packets.append(packet)


async def listening(bus: Connection, subject: str) -> Ear:
    ear = Ear()
    await bus.subscribe(subject, cb=ear.hear)
    await bus.flush()
    return ear


async def until(is_so: Callable[[], Any], wait_s: float = WAIT_S) -> Any:
    """What it came to. It may ask a service, so it runs on a thread: workers of this loop go on meanwhile."""
    async with asyncio.timeout(wait_s):
        while not (found := await asyncio.to_thread(is_so)):
            await asyncio.sleep(LOOK_AGAIN_S)
    return found


def ids(count: int, prefix: str = "j") -> Iterable[str]:
    return [f"{prefix}-{number}" for number in range(count)]
