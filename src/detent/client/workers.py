"""Workers as the store knows them: each reports itself every few seconds, and goes from the list when it stops."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from detent.client.arguments import check_text_name, listed
from detent.client.moments import to_micros, to_moment
from detent.client.scope import Scoped
from detent.client.verbs import names
from detent.kernel.parse import COUNT_MAX
from detent.lifecycle.bounds import check_at_least, check_kind, check_whole
from detent.store.fleet import SEEN_S, Lane, WorkerReport
from detent.version import __version__

SLOTS_MAX: Final = 1_000_000
LANES_MAX: Final = 10


class Worker(Struct, frozen=True, kw_only=True):
    """A worker as it last reported itself. `running` of its `slots` were taken; None for kinds or adapters: any.

    `lanes` has its slots apart, by the isolation of the handlers that run in them, if the worker says so.

    One that is draining claims no more. `started_at` is by its own clock, `seen_at` by the store's.
    """

    name: str
    host: str
    pid: int
    queues: tuple[str, ...]
    kinds: tuple[str, ...] | None
    adapters: tuple[str, ...] | None
    slots: int
    running: int
    version: str
    is_draining: bool
    lanes: tuple[Lane, ...]
    started_at: datetime
    seen_at: datetime


class Workers(Scoped):
    async def report_worker(
        self,
        worker: str,
        *,
        host: str,
        pid: int,
        started_at: datetime,
        queues: Sequence[str],
        kinds: Sequence[str] | None = None,
        adapters: Sequence[str] | None = None,
        slots: int = 1,
        running: int = 0,
        version: str = __version__,
        is_draining: bool = False,
        lanes: Sequence[Lane] = (),
    ) -> None:
        """Say that a worker is there, and what it serves: about every 5 s. It takes the place of its last report."""
        check_kind("is_draining", is_draining, bool)
        report = WorkerReport(
            tenant=self.tenant,
            name=check_text_name("worker", worker),
            host=check_text_name("host", host),
            pid=check_whole("pid", pid, least=0, most=COUNT_MAX),
            started_at=to_micros("started_at", started_at),
            queues=names("queues", () if queues is None else queues) or (),
            kinds=names("kinds", kinds),
            adapters=names("adapters", adapters),
            slots=check_whole("slots", slots, least=0, most=SLOTS_MAX),
            running=check_whole("running", running, least=0, most=SLOTS_MAX),
            version=check_text_name("version", version),
            is_draining=is_draining,
            lanes=_checked(lanes),
        )
        await self.store.report_worker(report)

    async def forget_worker(self, worker: str) -> None:
        """A worker that stops takes itself from the list. One that cannot is gone from it after three reports."""
        await self.store.forget_worker(self.tenant, check_text_name("worker", worker))

    async def workers(self, *, within_s: float = SEEN_S) -> list[Worker]:
        """The workers that were seen within so many seconds, the latest first, up to 1,000. They are kept for a day."""
        check_at_least("within_s", within_s, 0)
        return [worker_of(report) for report in await self.store.workers(self.tenant, within_s)]


def _checked(lanes: Sequence[Lane]) -> tuple[Lane, ...]:
    checked = []
    for lane in listed("lanes", lanes, of="lanes", most=LANES_MAX):
        check_kind("lanes", lane, Lane)
        checked.append(
            Lane(
                isolation=check_text_name("isolation", lane.isolation),
                kinds=names("kinds", lane.kinds) or (),
                slots=check_whole("slots", lane.slots, least=1, most=SLOTS_MAX),
                running=check_whole("running", lane.running, least=0, most=SLOTS_MAX),
            )
        )
    return tuple(checked)


def worker_of(report: WorkerReport) -> Worker:
    return Worker(
        name=report.name, host=report.host, pid=report.pid, queues=report.queues, kinds=report.kinds,
        adapters=report.adapters, slots=report.slots, running=report.running, version=report.version,
        is_draining=report.is_draining, lanes=report.lanes, started_at=to_moment(report.started_at),
        seen_at=to_moment(report.seen_at),
    )  # fmt: skip
