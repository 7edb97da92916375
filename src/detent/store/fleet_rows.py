"""Rows and the structs of `fleet.py`, each made from the other by position. The order is that of the .sql."""

from collections.abc import Sequence
from typing import Final

import msgspec

from detent.errors import InvalidArgument
from detent.store.fleet import SCHEDULES_MAX, Lane, QueueFacts, Schedule, WorkerReport
from detent.store.rows import Row, text

_decode_lanes: Final = msgspec.json.Decoder(tuple[Lane, ...]).decode
_decode_names: Final = msgspec.json.Decoder(tuple[str, ...]).decode


def queue_of(row: Row) -> QueueFacts:
    name, depth_max, paused_at, paused_by, paused_reason = row
    return QueueFacts(
        name=name, depth_max=depth_max, paused_at=paused_at, paused_by=paused_by, paused_reason=paused_reason
    )


def worker_row(report: WorkerReport) -> Row:
    """Without the moment, which is the store's to say."""
    return (
        report.tenant, report.name, report.host, report.pid, report.started_at, text(report.queues),
        None if report.kinds is None else text(report.kinds),
        None if report.adapters is None else text(report.adapters),
        report.slots, report.running, report.version, report.is_draining,
        text(report.lanes) if report.lanes else None,
    )  # fmt: skip


def worker_of(row: Row) -> WorkerReport:
    (tenant, name, host, pid, started_at, queues, kinds, adapters, slots, running, version, is_draining,
     lanes, seen_at) = row  # fmt: skip
    return WorkerReport(
        tenant=tenant, name=name, host=host, pid=pid, started_at=started_at, queues=_decode_names(queues),
        kinds=None if kinds is None else _decode_names(kinds),
        adapters=None if adapters is None else _decode_names(adapters),
        slots=slots, running=running, version=version, is_draining=bool(is_draining),
        lanes=() if lanes is None else _decode_lanes(lanes), seen_at=seen_at,
    )  # fmt: skip


def schedule_row(schedule: Schedule) -> Row:
    """As it is brought: what has become of it is the store's to say."""
    return (
        schedule.tenant, schedule.name, schedule.cron, schedule.zone, schedule.kind, schedule.payload,
        schedule.digest, schedule.next_at,
    )  # fmt: skip


def schedule_of(row: Row) -> Schedule:
    (tenant, name, cron, zone, kind, payload, digest, next_at, last_at, paused_at, paused_by, paused_reason) = row
    return Schedule(
        tenant=tenant, name=name, cron=cron, zone=zone, kind=kind, payload=payload, digest=digest, next_at=next_at,
        last_at=last_at, paused_at=paused_at, paused_by=paused_by, paused_reason=paused_reason,
    )  # fmt: skip


def is_news(schedules: Sequence[Schedule], kept: Sequence[Schedule]) -> bool:
    """Whether one of these is not kept as it is: mostly none, and then nothing has to be written."""
    digests = {each.name: each.digest for each in kept}
    return any(digests.get(each.name) != each.digest for each in schedules)


def within_bounds(kept: list[Schedule], tenant: str) -> list[Schedule]:
    """Raised inside the transaction, so that nothing of it stays."""
    if len(kept) > SCHEDULES_MAX:
        message = f"tenant '{tenant}' would have more than {SCHEDULES_MAX:,} schedules"
        raise InvalidArgument(f"{message}; remove those that are not needed any more: detent schedule remove NAME")
    return kept
