"""What a worker does: `detent worker` itself, in a process of its own, on a store that is gone afterwards.

Seen from outside, by what anybody can see: jobs are enqueued, and what came of them is read from the record. What only
the process knows, it tells as the result of a job.
"""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from statistics import median, quantiles
from tempfile import TemporaryFile
from time import monotonic, monotonic_ns
from typing import IO, Final

import msgspec
from msgspec import Struct

from detent.client import Client, connect
from detent.client.verifying import walk
from detent.errors import WaitTimedOut
from detent.testing.bench_jobs import IDLE, PROBE, Meter

CONCURRENCY: Final = 2_000
BATCH: Final = 1_000
STAMPS_MAX: Final = 200  # jobs of a light load
PAUSE_S: Final = 0.02  # between two jobs of a light load
IDLE_S: Final = 2.0
LOOK_S: Final = 0.05
PATIENCE_S: Final = 60.0  # for the worker to do anything at all
GRACE_S: Final = 10.0
WORKER: Final = "detent.testing.bench_jobs:app"
# What each job has been through, in its log.
LIFE: Final = ["enqueue", "claim", "start", "complete"]

Step = Callable[[], object]
Metered = Callable[[], Awaitable[Meter]]


class WorkerFigures(Struct, frozen=True, kw_only=True):
    """One worker process. `jobs` that do nothing were waiting, and all were run, `jobs_per_s`, each for `cpu_us` of
    the worker's processor. `whole` of them have the four events of a life in the log.

    One job every 20 ms: `enqueue_ms_p50` is how long `enqueue` takes, whose job is safe when it returns; `start_ms_p50`
    and `start_ms_p95` are from then on to the handler's begin. `idle_…`: what a worker uses that has nothing to do; its
    memory only where the system tells.
    """

    jobs: int
    whole: int
    jobs_per_s: int
    cpu_us: float
    enqueue_ms_p50: float
    start_ms_p50: float
    start_ms_p95: float
    idle_cpu_percent: float
    idle_memory_mb: float | None


class Unfinished(Exception):
    """The worker that was to be measured did not do its work."""


def measure_worker(url: str, jobs: int, *, on_step: Step = lambda: None) -> WorkerFigures:
    """On an empty store, which keeps what was done. Two steps beside one for each thousand jobs."""
    return asyncio.run(_measured(url, jobs, on_step))


async def _measured(url: str, jobs: int, on_step: Step) -> WorkerFigures:
    async with connect(url) as client, _at_work(url, client) as meter:
        before, began_s = await meter(), monotonic()
        await asyncio.sleep(IDLE_S)
        idle, idle_s = await meter(), monotonic() - began_s
        on_step()
        calls, waits = await _light(client, min(jobs, STAMPS_MAX))
        on_step()
        loaded, drained = await _heavy(client, jobs, meter, on_step)
        whole, taken_s = await _looked_at(client)
    hundredths = quantiles(waits, n=100, method="inclusive")
    enqueue_ms = median(calls)
    return WorkerFigures(
        jobs=jobs,
        whole=whole,
        jobs_per_s=round(jobs / taken_s),
        cpu_us=round((drained.cpu_s - loaded.cpu_s) / jobs * 1e6, 1),
        enqueue_ms_p50=round(enqueue_ms, 2),
        start_ms_p50=round(hundredths[49], 2),
        start_ms_p95=round(hundredths[94], 2),
        idle_cpu_percent=round((idle.cpu_s - before.cpu_s) / idle_s * 100, 2),
        idle_memory_mb=None if idle.memory_bytes is None else round(idle.memory_bytes / 1e6, 1),
    )


async def _light(client: Client, stamps: int) -> tuple[list[float], list[float]]:
    """Milliseconds that each `enqueue` took, and from its return to the begin of the handler, job by job."""
    calls: list[float] = []
    returned: dict[str, int] = {}
    for _ in range(stamps):
        began_ns = monotonic_ns()
        job_id = (await client.enqueue("stamp", queue=PROBE)).id
        returned[job_id] = monotonic_ns()
        calls.append((returned[job_id] - began_ns) / 1e6)
        await asyncio.sleep(PAUSE_S)
    ended = [await client.wait(job_id, timeout_s=PATIENCE_S) for job_id in returned]
    return calls, [(job.result - returned[job.id]) / 1e6 for job in ended]


async def _heavy(client: Client, jobs: int, meter: Metered, on_step: Step) -> tuple[Meter, Meter]:
    """What the worker had used before it was let at the jobs, and when they were done."""
    await client.pause_queue(IDLE)
    for place in range(0, jobs, BATCH):
        await client.enqueue_many([{"kind": "nothing", "queue": IDLE}] * min(BATCH, jobs - place))
        on_step()
    before, deadline_s = await meter(), monotonic() + PATIENCE_S
    await client.resume_queue(IDLE)
    while await _is_left(client):
        if monotonic() > deadline_s:
            raise Unfinished(f"the worker did not run {jobs:,} jobs in {PATIENCE_S:g} s; measure with fewer")
        await asyncio.sleep(LOOK_S)
    return before, await meter()


async def _is_left(client: Client) -> bool:
    """Whether anything is still to be done. Newest first: as long as the last one waits, it is found at once."""
    for phase in ("ready", "active"):
        if (await client.find(phase=phase, queue=IDLE, limit=1)).items:
            return True
    return False


async def _looked_at(client: Client) -> tuple[int, float]:
    """How many jobs have a whole life on the record, and how long all of them took, by the store's own clock."""
    whole, began_at, ended_at = 0, sys.maxsize, 0
    async for story in walk(client.store, client.tenant):
        if story.job.spec.queue == IDLE:
            whole += [event.verb for event in story.events] == LIFE
            began_at = min(began_at, story.events[1].at)
            ended_at = max(ended_at, story.events[-1].at)
    return whole, (ended_at - began_at) / 1e6


@asynccontextmanager
async def _at_work(url: str, client: Client) -> AsyncIterator[Metered]:
    """A worker for as long as the block lasts, and what asks it how much it has used."""
    with TemporaryFile("w+") as said, _process(url, said) as process:

        async def meter() -> Meter:
            job_id = (await client.enqueue("meter", queue=PROBE)).id
            for _ in range(round(PATIENCE_S)):
                if process.poll() is not None:
                    break
                with suppress(WaitTimedOut):
                    return msgspec.convert((await client.wait(job_id, timeout_s=1)).result, Meter)
            raise Unfinished(f"the worker did nothing; it said: {_last_line(said)}")

        yield meter


@contextmanager
def _process(url: str, said: IO[str]) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "detent", "worker", WORKER, "--url", url, "--concurrency", str(CONCURRENCY)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said) as process:
        try:
            yield process
            process.send_signal(signal.SIGTERM)
            process.wait(GRACE_S)
        finally:
            process.kill()


def _last_line(said: IO[str]) -> str:
    said.seek(0)
    return (said.read().strip().splitlines() or ["nothing"])[-1]
