"""Queues, workers and schedules, by the routes of the service."""

from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct, structs

from detent.errors import NotFound
from detent.store.fleet import Lane, QueueFacts, Schedule, WorkerReport
from detent.store.http.line import NOTHING
from detent.store.http.sharing import Sharing, named, replies_of
from detent.store.request import Replies, Request
from detent.wire.http.answers import Advanced, SchedulesAnswer, WorkerAnswer, WorkersAnswer
from detent.wire.http.items import item_of, text_of
from detent.wire.http.schedules import ScheduleRecord, payload_of
from detent.wire.moments import micros_of, micros_of_or_none, to_rfc3339


class QueuesAnswer(Struct, frozen=True):
    queues: list[QueueFacts]


class OldestAnswer(Struct, frozen=True):
    oldest_ready: dict[str, datetime]


class HttpFleet(Sharing):
    # -- queues

    async def limit_queue(self, tenant: str, queue: str, depth_max: int | None) -> None:
        await self._set(tenant, f"/v1/queues{named(queue)}/limit", {"depth_max": depth_max})

    async def pause_queue(self, tenant: str, queue: str, by: str, reason: str | None) -> None:
        await self._set(tenant, f"/v1/queues{named(queue)}/pause", {"actor": by, "reason": reason})

    async def resume_queue(self, tenant: str, queue: str) -> None:
        await self._set(tenant, f"/v1/queues{named(queue)}/resume")

    async def queues(self, tenant: str, name: str | None = None) -> list[QueueFacts]:
        return (await self._of(tenant, QueuesAnswer, "GET", "/v1/queue-settings", query={"queue": name})).queues

    async def oldest_ready(self, tenant: str, queue: str | None = None) -> dict[str, int]:
        answer = await self._of(tenant, OldestAnswer, "GET", "/v1/oldest-ready", query={"queue": queue})
        return {name: micros_of(at) for name, at in answer.oldest_ready.items()}

    # -- workers

    async def report_worker(self, report: WorkerReport) -> None:
        body = structs.asdict(report) | {"started_at": to_rfc3339(report.started_at)}
        for name in ("tenant", "name", "seen_at"):
            del body[name]
        await self._of(
            report.tenant, NOTHING, "PUT", f"/v1/workers{named(report.name)}", body=body, is_safe=True
        )  # fmt: skip

    async def forget_worker(self, tenant: str, name: str) -> None:
        await self._of(tenant, NOTHING, "DELETE", f"/v1/workers{named(name)}", is_safe=True)

    async def workers(self, tenant: str, within_s: float) -> list[WorkerReport]:
        answer = await self._of(tenant, WorkersAnswer, "GET", "/v1/workers", query={"within_s": within_s})
        return [_report(tenant, each) for each in answer.workers]

    # -- schedules

    async def keep_schedules(self, tenant: str, schedules: Sequence[Schedule]) -> list[Schedule]:
        if schedules:
            body = {"schedules": [_brought(each) for each in schedules]}
            kept = await self._of(tenant, SchedulesAnswer, "PUT", "/v1/schedules", body=body, is_safe=True)
        else:
            kept = await self._of(tenant, SchedulesAnswer, "GET", "/v1/schedules")
        return [_schedule(tenant, each) for each in kept.schedules]

    async def advance_schedule(
        self, tenant: str, name: str, *, expected: int, next_at: int, requests: Sequence[Request] = ()
    ) -> Replies | None:
        items = [item_of(each.job_id, each.command, each.lifecycle, is_fresh=each.is_fresh) for each in requests]
        body = {"expected": to_rfc3339(expected), "next_at": to_rfc3339(next_at), "requests": items}
        had = await self._of(tenant, Advanced, "POST", f"/v1/schedules{named(name)}/advance", body=body)
        return replies_of(had.answers) if had.is_ours else None

    async def pause_schedule(self, tenant: str, name: str, by: str, reason: str | None) -> bool:
        return await self._found(tenant, f"/v1/schedules{named(name)}/pause", {"actor": by, "reason": reason})

    async def resume_schedule(self, tenant: str, name: str) -> bool:
        return await self._found(tenant, f"/v1/schedules{named(name)}/resume")

    async def forget_schedule(self, tenant: str, name: str) -> bool:
        try:
            await self._of(tenant, NOTHING, "DELETE", f"/v1/schedules{named(name)}")
        except NotFound:
            return False
        return True

    async def _found(self, tenant: str, path: str, body: Any = None) -> bool:
        try:
            await self._set(tenant, path, body)
        except NotFound:
            return False
        return True

    async def _set(self, tenant: str, path: str, body: Any = None) -> None:
        """What is set is as it is asked, however often it was asked."""
        await self._of(tenant, NOTHING, "POST", path, body=body, is_safe=True)


def _report(tenant: str, answer: WorkerAnswer) -> WorkerReport:
    said = structs.asdict(answer) | {
        "lanes": tuple(Lane(**structs.asdict(lane)) for lane in answer.lanes),
        "started_at": micros_of(answer.started_at), "seen_at": micros_of(answer.seen_at),
    }  # fmt: skip
    return WorkerReport(tenant=tenant, **said)


def _brought(schedule: Schedule) -> dict[str, Any]:
    body = {name: getattr(schedule, name) for name in ("name", "cron", "zone", "kind", "digest")}
    body["next_at"] = to_rfc3339(schedule.next_at)
    if schedule.payload.startswith(b"\x00"):
        return body | {"sealed": b64encode(schedule.payload).decode()}
    return body | {"payload": text_of("payload", schedule.payload)}


def _schedule(tenant: str, record: ScheduleRecord) -> Schedule:
    return Schedule(
        tenant=tenant, name=record.name, cron=record.cron, zone=record.zone, kind=record.kind,
        payload=payload_of(record), digest=record.digest, next_at=micros_of(record.next_at),
        last_at=micros_of_or_none(record.last_at), paused_at=micros_of_or_none(record.paused_at),
        paused_by=record.paused_by, paused_reason=record.paused_reason,
    )  # fmt: skip
