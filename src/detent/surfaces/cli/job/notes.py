"""`detent job notes`: what was said of a job without moving it."""

from datetime import UTC, datetime

import click

from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.job.naming import JOB, opened_for
from detent.surfaces.cli.job.telling import of_note
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import write_json, write_table
from detent.surfaces.cli.times import clock, relative
from detent.surfaces.shapes import NoteShape, note_shape


@click.command(cls=Command, example="detent job notes 42", shape=list[NoteShape])
@JOB
@store_options
@JSON
def notes(url: str | None, tenant: str, as_json: bool, job_id: str) -> None:
    """Show what was said of a job without moving it: progress, and results that came too late."""
    with opened_for(job_id, url, tenant) as client:
        found = client.notes(job_id)
    if as_json:
        write_json([note_shape(note) for note in found])
    elif found:
        now = datetime.now(UTC)
        rows = ((clock(entry.at), entry.what, entry.why, relative(entry.at, now)) for entry in map(of_note, found))
        write_table(("time", "what", "more", "when"), rows)
    else:
        remark("Nothing was said of it.")
