"""`detent job artifacts`: what the handler of a job has made, and what became of it."""

from datetime import UTC, datetime

import click

from detent.client.artifacts import Artifact
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.job.naming import JOB, opened_for
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import write_json, write_table
from detent.surfaces.cli.times import relative


@click.command(cls=Command, example="detent job artifacts 42", shape=list[Artifact])
@JOB
@store_options
@JSON
def artifacts(url: str | None, tenant: str, as_json: bool, job_id: str) -> None:
    """Show what the handler of a job has made: final, partial or discarded, and where it is kept."""
    with opened_for(job_id, url, tenant) as client:
        found = client.artifacts(job_id)
    if as_json:
        write_json(found)
    elif found:
        now = datetime.now(UTC)
        rows = (
            (each.name, each.status, str(each.attempt), _size(each.size), each.pointer, relative(each.at, now))
            for each in found
        )
        write_table(("name", "status", "attempt", "size", "pointer", "when"), rows)
    else:
        remark("It has registered no artifacts.")


def _size(size: int | None) -> str:
    return "" if size is None else f"{size:,}"
