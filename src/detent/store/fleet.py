"""What a store keeps beside jobs: which queues are paused, which workers there are, and what the calendar asks for.

None of it moves a job or is part of its log. A paused queue is passed over by claims; a worker's report and a schedule
are looked at by whoever asks for them.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from msgspec import Struct

from detent.store.query import DAY_S
from detent.store.request import Replies, Request

REPORT_S: Final = 5.0  # how often a worker reports itself
SEEN_S: Final = 3 * REPORT_S  # one that has missed three reports counts as gone
WORKER_KEPT_S: Final = DAY_S  # after its last report
BUS_HOST: Final = "nats"  # of workers that are known from a bus: they ask no policy, who is on the bus for them does
# How many are listed at most, and of schedules also kept, for a tenant.
QUEUES_MAX: Final = 1_000
WORKERS_MAX: Final = 1_000
SCHEDULES_MAX: Final = 1_000
FORGOTTEN_MAX: Final = 100  # workers that are gone, in one go


class QueueFacts(Struct, frozen=True, kw_only=True):
    """What is set for a queue. `paused_at` is None unless it is paused; then it says since when."""

    name: str
    depth_max: int | None = None
    paused_at: int | None = None
    paused_by: str | None = None
    paused_reason: str | None = None


class Lane(Struct, frozen=True, kw_only=True):
    """The slots of one isolation, and the kinds of jobs that run in them; `running` of them are taken."""

    isolation: str
    kinds: tuple[str, ...]
    slots: int
    running: int = 0


class WorkerReport(Struct, frozen=True, kw_only=True):
    """What a worker says of itself every `REPORT_S`. `seen_at` is the store's to say; None for kinds or adapters: any.

    `running` of its `slots` are taken, whatever their isolation; `lanes` has them apart, if the worker says so. One
    that drains claims no more.
    """

    tenant: str
    name: str
    host: str
    pid: int
    started_at: int
    queues: tuple[str, ...]
    kinds: tuple[str, ...] | None = None
    adapters: tuple[str, ...] | None = None
    slots: int
    running: int = 0
    version: str = ""
    is_draining: bool = False
    lanes: tuple[Lane, ...] = ()
    seen_at: int = 0


class Schedule(Struct, frozen=True, kw_only=True):
    """A job that the calendar asks for: at `next_at` for the next time. `last_at` is the last tick that was had.

    Who brings it says when the first tick is: a store can read no cron expression. So `next_at` may also be the moment
    at which it was resumed; the next tick is then the first one from there on. `digest` is that of its content;
    with the same digest it is the same schedule, and nothing is written.
    """

    tenant: str
    name: str
    cron: str
    zone: str
    kind: str
    payload: bytes
    digest: str
    next_at: int
    last_at: int | None = None
    paused_at: int | None = None
    paused_by: str | None = None
    paused_reason: str | None = None


class Fleet(Protocol):
    """Of every store. Moments are its own clock's, as everywhere."""

    async def pause_queue(self, tenant: str, queue: str, by: str, reason: str | None) -> None:
        """No claim that is asked for later takes from the queue. One that is paused already stays as it is."""

    async def resume_queue(self, tenant: str, queue: str) -> None: ...

    async def queues(self, tenant: str, name: str | None = None) -> list[QueueFacts]:
        """Queues for which something is set, by name, up to `QUEUES_MAX`; or that one, if something is set for it."""

    async def oldest_ready(self, tenant: str, queue: str | None = None) -> dict[str, int]:
        """For each queue in which a job can be claimed now: from when on the first of them could be; or of that one.

        Whether the queue is paused does not matter: its jobs wait all the same. It looks at what waits, and at nothing
        that is at work or has ended.
        """

    async def report_worker(self, report: WorkerReport) -> None:
        """Keep what a worker says of itself in place of what it said before, as seen now."""

    async def forget_worker(self, tenant: str, name: str) -> None: ...

    async def workers(self, tenant: str, within_s: float) -> list[WorkerReport]:
        """Those seen within the last so many seconds, the latest first, up to `WORKERS_MAX`."""

    async def keep_schedules(self, tenant: str, schedules: Sequence[Schedule]) -> list[Schedule]:
        """Keep these under their names, and return all that are kept, by name.

        One that is there with the same cron expression and zone keeps its `next_at`, and whether it is paused; with
        others it goes on from the `next_at` that it brings. More than `SCHEDULES_MAX` are refused.
        """

    async def advance_schedule(
        self, tenant: str, name: str, *, expected: int, next_at: int, requests: Sequence[Request] = ()
    ) -> Replies | None:
        """Compare and set: whoever finds the schedule at the tick `expected` has that tick, and nobody else has.

        The requests are then carried out in the same transaction (`plan`). None: somebody else had the tick, or the
        schedule is paused; then it moves on all the same, and nobody has the tick.
        """

    async def pause_schedule(self, tenant: str, name: str, by: str, reason: str | None) -> bool:
        """Its ticks pass by from now on. False: there is no such schedule."""

    async def resume_schedule(self, tenant: str, name: str) -> bool:
        """Its ticks count again. Those before now are over: if it is paused and stands at one, it moves on to now."""

    async def forget_schedule(self, tenant: str, name: str) -> bool: ...
