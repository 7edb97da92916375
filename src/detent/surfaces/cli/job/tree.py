"""`detent job tree`: parents and children."""

import click
from rich.text import Text

from detent.client import Job
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.job.naming import JOB, opened_for
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import clean, write_array
from detent.surfaces.cli.output import show as print_
from detent.surfaces.cli.palette import state_of
from detent.surfaces.shapes import BranchShape, tree_shape

DEPTH_MAX = 8  # from then on a line says how deep it is instead of standing further right


@click.command(cls=Command, example="detent job tree 42", shape=list[BranchShape])
@JOB
@store_options
@JSON
def tree(url: str | None, tenant: str, as_json: bool, job_id: str) -> None:
    """Draw the whole tree a job belongs to, from the first of its parents down."""
    with opened_for(job_id, url, tenant) as client:
        grown = client.tree(job_id)
    if as_json:
        write_array(tree_shape(grown))
        return
    for depth, job in grown.walk():
        print_(_line(depth, job, is_asked=job.id == job_id))


def _line(depth: int, job: Job, *, is_asked: bool) -> Text:
    indent = "  " * min(depth - 1, DEPTH_MAX) + ("└ " if depth else "")
    deep = f"[{depth}] " if depth > DEPTH_MAX else ""
    step = "" if job.step_index is None else f"  step {job.step_index}"
    again = "  rerun" if job.rerun_of is not None else ""
    name = Text(clean(job.id), style="bold" if is_asked else "")
    return Text.assemble(
        Text(f"{indent}{deep}", style="dim"), name, f"  {clean(job.kind)}{step}{again}  ", state_of(job)
    )
