"""What a database keeps beside jobs: paused queues, workers, schedules. None of it is part of a plan."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from detent.kernel.clock import micros
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
from detent.store.postgres.script import Script, ask
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import blobs, numbers, texts

Result = TypeVar("Result")
# The columns of a report, as the statement calls them.
_REPORT: Final = (
    "tenant", "name", "host", "pid", "started_at", "queues", "kinds", "adapters", "slots", "slots_used", "version",
    "is_draining", "lanes",
)  # fmt: skip


class FleetInDatabase(ABC):
    """A store has this beside its jobs, and says how it reads and writes."""

    @abstractmethod
    async def _write(self, make: Callable[[Session], Script[Result]]) -> Result: ...

    @abstractmethod
    async def _read(self, make: Callable[[Session], Script[Result]], *, is_one_moment: bool = False) -> Result: ...

    async def pause_queue(self, tenant: str, queue: str, by: str, reason: str | None) -> None:
        values = {"tenant": tenant, "queue": queue, "by": by, "reason": reason}
        await self._write(lambda session: said(SQL["pause_queue"], {**values, "now": session.clock}))

    async def resume_queue(self, tenant: str, queue: str) -> None:
        await self._write(lambda session: said(SQL["resume_queue"], {"tenant": tenant, "queue": queue}))

    async def queues(self, tenant: str, name: str | None = None) -> list[QueueFacts]:
        asked = {"tenant": tenant, "name": name, "limit": QUEUES_MAX}
        return await self._read(lambda session: _made("queues", asked, queue_of))

    async def oldest_ready(self, tenant: str, queue: str | None = None) -> dict[str, int]:
        asked = {"tenant": tenant, "queue": queue}
        return dict(await self._read(lambda session: _made("oldest_ready", {**asked, "now": session.clock}, tuple)))

    async def report_worker(self, report: WorkerReport) -> None:
        await self._write(lambda session: _report(session, report))

    async def forget_worker(self, tenant: str, name: str) -> None:
        await self._write(lambda session: said(SQL["forget_worker"], {"tenant": tenant, "name": name}))

    async def workers(self, tenant: str, within_s: float) -> list[WorkerReport]:
        asked = {"tenant": tenant, "within": micros(within_s), "limit": WORKERS_MAX}
        return await self._read(lambda session: _made("workers", {**asked, "now": session.clock}, worker_of))

    async def keep_schedules(self, tenant: str, schedules: Sequence[Schedule]) -> list[Schedule]:
        """Written only if there is something new, as with lifecycles: every worker brings its own when it starts."""
        kept = await self._read(lambda session: _schedules(tenant))
        if not is_news(schedules, kept):
            return kept
        return await self._write(lambda session: _keep(tenant, schedules))

    async def pause_schedule(self, tenant: str, name: str, by: str, reason: str | None) -> bool:
        values = {"tenant": tenant, "name": name, "by": by, "reason": reason}
        return await self._write(lambda session: _is_found("pause_schedule", {**values, "now": session.clock}))

    async def resume_schedule(self, tenant: str, name: str) -> bool:
        values = {"tenant": tenant, "name": name}
        return await self._write(lambda session: _is_found("resume_schedule", {**values, "now": session.clock}))

    async def forget_schedule(self, tenant: str, name: str) -> bool:
        return await self._write(lambda session: _is_found("forget_schedule", {"tenant": tenant, "name": name}))


def said(sql: str, values: dict[str, Any]) -> Script[None]:
    yield ask(sql, values)


def has_tick(session: Session, tenant: str, name: str, expected: int, next_at: int) -> Script[bool]:
    """Whether the tick is ours: the schedule was at it, and is not paused."""
    values = {"tenant": tenant, "name": name, "expected": expected, "next_at": next_at}
    for is_ours, transaction, now in (yield ask(SQL["advance_schedule"], values)):
        session.heard(transaction, now)  # if its end is not heard of, it is not asked once more, and had by nobody
        return bool(is_ours)
    return False


def _report(session: Session, report: WorkerReport) -> Script[None]:
    values = dict(zip(_REPORT, worker_row(report), strict=True))
    yield ask(SQL["report_worker"], {**values, "now": session.clock})
    gone = {"now": session.clock, "kept": micros(WORKER_KEPT_S), "limit": FORGOTTEN_MAX}
    yield ask(SQL["forget_workers"], gone)


def _keep(tenant: str, schedules: Sequence[Schedule]) -> Script[list[Schedule]]:
    _, names, crons, zones, kinds, payloads, digests, nexts = zip(*map(schedule_row, schedules), strict=True)
    values = {
        "tenant": tenant, "names": texts(names), "crons": texts(crons), "zones": texts(zones), "kinds": texts(kinds),
        "payloads": blobs(payloads), "digests": texts(digests), "nexts": numbers(nexts),
    }  # fmt: skip
    yield ask(SQL["keep_schedule"], values)
    return within_bounds((yield from _schedules(tenant)), tenant)


def _schedules(tenant: str) -> Script[list[Schedule]]:
    """One more than there may be, so that too many are noticed."""
    return (yield from _made("schedules", {"tenant": tenant, "limit": SCHEDULES_MAX + 1}, schedule_of))


def _made(name: str, values: dict[str, Any], make: Callable[[Any], Result]) -> Script[list[Result]]:
    return [make(row) for row in (yield ask(SQL[name], values))]


def _is_found(name: str, values: dict[str, Any]) -> Script[bool]:
    return bool((yield ask(SQL[name], values)))
