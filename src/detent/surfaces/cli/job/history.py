"""`detent job history`: a job's story as a timeline: who, when, why, and how long."""

from datetime import datetime

import click
from rich.table import Table
from rich.text import Text

from detent.lifecycle import Lifecycle
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.job.naming import JOB, opened_for
from detent.surfaces.cli.job.telling import Entry, told
from detent.surfaces.cli.numbers import counted
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import clean, say, write_json
from detent.surfaces.cli.output import show as print_
from detent.surfaces.cli.palette import state_of, style_of
from detent.surfaces.cli.times import between, clock, day, unparted
from detent.surfaces.shapes import event_shape
from detent.wire.http.events import EventShape


@click.command(cls=Command, example="detent job history 42", shape=list[EventShape])
@JOB
@store_options
@JSON
def history(url: str | None, tenant: str, as_json: bool, job_id: str) -> None:
    """Tell a job's story: every move it made, who asked for it, why, and how long it stayed where it was."""
    with opened_for(job_id, url, tenant) as client:
        events = client.history(job_id)
        if as_json:
            write_json([event_shape(event) for event in events])
            return
        job, notes = client.get(job_id), client.notes(job_id)
        lifecycle = client.lifecycle(job.lifecycle, job.lifecycle_version)
    print_(Text.assemble(Text(clean(job.id), style="bold"), f"  {clean(job.kind)}  {job.lifecycle}  ", state_of(job)))
    print_(timeline(told(events, notes), lifecycle))
    end = job.ended_at or job.updated_at
    count = f"{counted(len(events), 'move')} in {between(job.created_at, end)}, {counted(job.attempt, 'attempt')}"
    say(f"{count}. Times are UTC.", style="dim")


def timeline(entries: list[Entry], lifecycle: Lifecycle) -> Table:
    """`after` is how long the job had been where it was."""
    table = Table.grid(padding=(0, 2))
    for name, side in (("time", "left"), ("after", "right"), ("state", "left"), ("what", "left")):
        table.add_column(name, justify="right" if side == "right" else "left", overflow="fold")
    before: datetime | None = None
    for entry in entries:
        if before is None or day(entry.at) != day(before):
            table.add_row(Text(day(entry.at), style="dim"))
        waited = "" if before is None else f"+{between(before, entry.at)}"
        table.add_row(clock(entry.at), Text(waited, style="dim"), _state(entry, lifecycle), _what(entry))
        before = entry.at
    return table


def _state(entry: Entry, lifecycle: Lifecycle) -> Text:
    if entry.state is None:
        return Text("  note", style="dim")
    state = lifecycle.by_name.get(entry.state)
    # One that the lifecycle does not have is in a log that was tampered with.
    return Text(clean(entry.state), style="" if state is None else style_of(state.phase, state.outcome))


def _what(entry: Entry) -> Text:
    what = Text(unparted(clean(entry.what)), style="dim" if entry.state is None else "")
    if entry.why:
        what.append(f"\n{unparted(clean(entry.why))}", style="yellow" if entry.is_trouble else "dim")
    return what
