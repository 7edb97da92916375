"""`detent schedule list`: the schedules, with their last and their next tick."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import click
from msgspec import Struct

from detent.client.schedules import Schedule
from detent.errors import InvalidArgument
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import write_json, write_listing
from detent.surfaces.cli.pausing import state_of, told
from detent.surfaces.cli.tables import Column
from detent.surfaces.cli.times import relative

Cell = Callable[[Schedule, datetime], object]
COLUMNS: Final[tuple[tuple[Column, Cell], ...]] = (
    (Column("schedule"), lambda schedule, now: schedule.name),
    (Column("state"), lambda schedule, now: state_of(schedule, "open")),
    (Column("cron"), lambda schedule, now: schedule.cron),
    (Column("zone", rank=4), lambda schedule, now: schedule.zone),
    (Column("kind", rank=3), lambda schedule, now: schedule.kind),
    (Column("next"), lambda schedule, now: relative(schedule.next_at, now)),
    (Column("last", rank=1), lambda schedule, now: relative(schedule.last_at, now)),
    (Column("paused", rank=2, enough=30), told),
)


class ScheduleShape(Struct, frozen=True, kw_only=True):
    """A job that the calendar asks for. `last_at` is the last tick that somebody had.
    `is_readable`: whether the payload is not sealed by a codec of your own; if it is, it is null here."""

    name: str
    cron: str
    zone: str
    kind: str
    payload: Any
    is_readable: bool
    digest: str
    next_at: datetime
    last_at: datetime | None
    paused_at: datetime | None
    paused_by: str | None
    paused_reason: str | None


@click.command("list", cls=Command, example="detent schedule list", shape=list[ScheduleShape])
@store_options
@JSON
def list_(url: str | None, tenant: str, as_json: bool) -> None:
    """List schedules: what each enqueues, when it did so last, and when it does so next."""
    with opened(url, tenant) as client:
        found = client.schedules()
    if as_json:
        write_json([schedule_shape(each) for each in found])
    elif found:
        now = datetime.now(UTC)
        rows = [[show(each, now) for _, show in COLUMNS] for each in found]
        write_listing([column for column, _ in COLUMNS], [rows])
    else:
        remark("There are no schedules.")


def schedule_shape(schedule: Schedule) -> ScheduleShape:
    payload, is_readable = _payload(schedule)
    others = {
        name: getattr(schedule, name)
        for name in ScheduleShape.__struct_fields__
        if name not in ("payload", "is_readable")
    }
    return ScheduleShape(**others, payload=payload, is_readable=is_readable)


def _payload(schedule: Schedule) -> tuple[Any, bool]:
    try:
        return schedule.payload, True
    except InvalidArgument as error:
        if error.code != "value_unreadable":
            raise
        return None, False
