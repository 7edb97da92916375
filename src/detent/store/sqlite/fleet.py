"""What a file keeps beside jobs: paused queues, workers, schedules. None of it is part of a plan."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeVar

from detent.kernel.clock import micros
from detent.store.clock import Clock
from detent.store.fleet import (
    FORGOTTEN_MAX,
    QUEUES_MAX,
    SCHEDULES_MAX,
    WORKER_KEPT_S,
    WORKERS_MAX,
    QueueFacts,
    Schedule,
    WorkerReport,
)
from detent.store.fleet_rows import is_news, queue_of, schedule_of, schedule_row, within_bounds, worker_of, worker_row
from detent.store.sqlite.session import Session
from detent.store.sqlite.statements import SQL
from detent.store.sqlite.transaction import Transaction

Result = TypeVar("Result")


class FleetInFile(ABC):
    """A store has this beside its jobs, and says how it reads and writes."""

    _clock: Clock

    @abstractmethod
    async def _write(
        self, work: Callable[[Session], Result], tx: Transaction | None = None, size: int = 1
    ) -> Result: ...

    @abstractmethod
    async def _read(self, work: Callable[[Session], Result]) -> Result: ...

    async def pause_queue(self, tenant: str, queue: str, by: str, reason: str | None) -> None:
        await self._write(lambda session: session.pause(tenant, queue, by, reason))

    async def resume_queue(self, tenant: str, queue: str) -> None:
        await self._write(lambda session: session.resume(tenant, queue))

    async def queues(self, tenant: str, name: str | None = None) -> list[QueueFacts]:
        rows = await self._read(lambda session: session.connection.execute(SQL["queues"], (tenant, name, QUEUES_MAX)))
        return [queue_of(row) for row in rows]

    async def oldest_ready(self, tenant: str, queue: str | None = None) -> dict[str, int]:
        asked = tenant, queue, self._clock()
        return dict(await self._read(lambda session: session.connection.execute(SQL["oldest_ready"], asked)))

    async def report_worker(self, report: WorkerReport) -> None:
        await self._write(lambda session: _report(session, report))

    async def forget_worker(self, tenant: str, name: str) -> None:
        await self._write(lambda session: session.connection.execute(SQL["forget_worker"], (tenant, name)))

    async def workers(self, tenant: str, within_s: float) -> list[WorkerReport]:
        asked = tenant, self._clock() - micros(within_s), WORKERS_MAX
        rows = await self._read(lambda session: session.connection.execute(SQL["workers"], asked))
        return [worker_of(row) for row in rows]

    async def keep_schedules(self, tenant: str, schedules: Sequence[Schedule]) -> list[Schedule]:
        """Written only if there is something new, as with lifecycles: every worker brings its own when it starts."""
        kept = await self._read(lambda session: _schedules(session, tenant))
        if not is_news(schedules, kept):
            return kept
        return await self._write(lambda session: _keep(session, tenant, schedules))

    async def pause_schedule(self, tenant: str, name: str, by: str, reason: str | None) -> bool:
        return await self._write(
            lambda session: _is_found(session, "pause_schedule", tenant, name, session.now, by, reason)
        )

    async def resume_schedule(self, tenant: str, name: str) -> bool:
        return await self._write(lambda session: _is_found(session, "resume_schedule", tenant, name, session.now))

    async def forget_schedule(self, tenant: str, name: str) -> bool:
        return await self._write(lambda session: _is_found(session, "forget_schedule", tenant, name))


def has_tick(session: Session, tenant: str, name: str, expected: int, next_at: int) -> bool:
    """Whether the tick is ours: the schedule was at it, and is not paused."""
    return session.connection.execute(SQL["advance_schedule"], (tenant, name, expected, next_at)) == [(1,)]


def _report(session: Session, report: WorkerReport) -> None:
    session.connection.execute(SQL["report_worker"], (*worker_row(report), session.now))
    session.connection.execute(SQL["forget_workers"], (session.now - micros(WORKER_KEPT_S), FORGOTTEN_MAX))


def _keep(session: Session, tenant: str, schedules: Sequence[Schedule]) -> list[Schedule]:
    session.connection.executemany(SQL["keep_schedule"], [schedule_row(each) for each in schedules])
    return within_bounds(_schedules(session, tenant), tenant)


def _schedules(session: Session, tenant: str) -> list[Schedule]:
    """One more than there may be, so that too many are noticed."""
    return [schedule_of(row) for row in session.connection.execute(SQL["schedules"], (tenant, SCHEDULES_MAX + 1))]


def _is_found(session: Session, statement: str, *given: object) -> bool:
    return bool(session.connection.execute(SQL[statement], given))
