"""The commands that change a schedule: pause, resume, remove."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import click
from rich.text import Text

from detent.client import SyncClient
from detent.client.schedules import Schedule
from detent.errors import NotFound
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.failure import failure_of, guess
from detent.surfaces.cli.job.steering import ACTOR, REASON, login_name
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import clean, write_json
from detent.surfaces.cli.output import show as print_
from detent.surfaces.cli.pausing import completing, state_of, told
from detent.surfaces.cli.schedule.listing import ScheduleShape, schedule_shape
from detent.surfaces.cli.times import relative


def _names(client: SyncClient) -> list[str]:
    return [schedule.name for schedule in client.schedules()]


SCHEDULE: Final = click.argument("name", metavar="SCHEDULE", shell_complete=completing(_names))


@click.command(cls=Command, example='detent schedule pause nightly --reason "month\'s end"', shape=ScheduleShape)
@SCHEDULE
@ACTOR
@REASON
@store_options
@JSON
def pause(name: str, actor: str | None, reason: str | None, url: str | None, tenant: str, as_json: bool) -> None:
    """Let the ticks of a schedule pass by, until it is resumed. One that is paused already stays as it is."""
    by = actor or login_name()
    schedule = _done(name, url, tenant, lambda client: client.pause_schedule(name, actor=by, reason=reason))
    _show(schedule, "", as_json=as_json)


@click.command(cls=Command, example="detent schedule resume nightly", shape=ScheduleShape)
@SCHEDULE
@store_options
@JSON
def resume(name: str, url: str | None, tenant: str, as_json: bool) -> None:
    """Let a paused schedule go on with its next tick. Those that passed by are not made up for."""
    schedule = _done(name, url, tenant, lambda client: client.resume_schedule(name))
    _show(schedule, "", as_json=as_json)


@click.command(cls=Command, example="detent schedule remove nightly", shape=ScheduleShape)
@SCHEDULE
@store_options
@JSON
def remove(name: str, url: str | None, tenant: str, as_json: bool) -> None:
    """Remove a schedule that no program has any more. Prints it as it was.

    A worker whose program still has it brings it again when it starts. To stop it meanwhile, pause it.
    """
    schedule = _done(name, url, tenant, lambda client: client.forget_schedule(name))
    _show(schedule, "removed", as_json=as_json)


def _done(name: str, url: str | None, tenant: str, act: Callable[[SyncClient], object]) -> Schedule:
    """The schedule as it is afterwards; one that is gone, as it was. A mistyped name hears what is spelled like it."""
    with opened(url, tenant) as client:
        before = {schedule.name: schedule for schedule in client.schedules()}
        try:
            act(client)
        except NotFound as error:
            raise failure_of(error, guess(name, before)) from error
        after = {schedule.name: schedule for schedule in client.schedules()}
    return after.get(name, before[name])


def _show(schedule: Schedule, done: str, *, as_json: bool) -> None:
    if as_json:
        write_json(schedule_shape(schedule))
        return
    now = datetime.now(UTC)
    state = Text(done, style="yellow") if done else state_of(schedule, "open")
    more = "" if done else f"  {told(schedule, now) or f'next {relative(schedule.next_at, now)}'}"
    print_(Text.assemble(Text(clean(schedule.name), style="bold"), "  ", state, Text(more, style="dim")))
