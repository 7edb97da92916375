"""Workers: which there are, and what they say of themselves."""

from datetime import datetime
from typing import Final

from msgspec import Struct, structs

from detent.client import Job
from detent.client.reads import page_size
from detent.client.workers import Worker
from detent.store import Page
from detent.store.fleet import SEEN_S, Lane
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.budget import job_bytes, page_within
from detent.surfaces.http.operations.job_shapes import JobPage
from detent.surfaces.http.route import Route
from detent.version import __version__


class WorkersQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    within_s: float = SEEN_S


class WorkersShape(Struct, frozen=True, kw_only=True):
    """Workers that were seen lately, the latest first."""

    workers: list[Worker]


class HeldQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    limit: int = 100
    cursor: str | None = None


class ReportBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a worker says of itself, about every 5 s. It takes the place of its last report."""

    queues: list[str]
    started_at: datetime
    host: str = "unknown"
    pid: int = 0
    kinds: list[str] | None = None
    adapters: list[str] | None = None
    slots: int = 1
    running: int = 0
    version: str = __version__
    is_draining: bool = False
    lanes: list[Lane] = []


async def workers(ask: Ask, query: WorkersQuery) -> WorkersShape:
    """The workers that were seen within so many seconds."""
    return WorkersShape(workers=await ask.client.workers(within_s=query.within_s))


async def worker_jobs(ask: Ask, worker: str, query: HeldQuery) -> JobPage:
    """The jobs that a worker has now, newest first: what it may have claimed without hearing of it.

    A token of scope work alone sees those of its own worker.
    """
    if not ask.grant.may("read"):
        ask.grant.check_worker(worker)

    async def read(limit: int, cursor: str | None) -> Page[Job]:
        return await ask.client.find(owner=worker, limit=limit, cursor=cursor)

    page = await page_within(read, page_size(query.limit), query.cursor, lambda job: job_bytes(job.record))
    return JobPage(jobs=[ask.shown(job.record) for job in page], cursor=page.cursor)


async def report_worker(ask: Ask, worker: str, body: ReportBody) -> None:
    """Say that a worker is there, and what it serves. A token reports its own worker only."""
    await ask.client.report_worker(ask.grant.check_worker(worker), **structs.asdict(body))


async def forget_worker(ask: Ask, worker: str) -> None:
    """A worker that stops takes itself from the list."""
    await ask.client.forget_worker(ask.grant.check_worker(worker))


_WORK: Final = ("work",)
ROUTES: Final = (
    Route(method="GET", path="/v1/workers", handler=workers, scopes=("read", "work"), tag="workers"),
    Route(
        method="GET", path="/v1/workers/{worker}/jobs", handler=worker_jobs, scopes=("read", "work"), tag="workers"
    ),
    Route(method="PUT", path="/v1/workers/{worker}", handler=report_worker, scopes=_WORK, tag="workers"),
    Route(method="DELETE", path="/v1/workers/{worker}", handler=forget_worker, scopes=_WORK, tag="workers"),
)  # fmt: skip
