"""`detent job tree`: parents and children."""

from collections.abc import Iterator
from typing import Final

import click
from rich.text import Text

from detent.client import Job
from detent.client.tree import Tree
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.job.naming import JOB, opened_for
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import clean, write_array
from detent.surfaces.cli.output import show as print_
from detent.surfaces.cli.palette import state_of
from detent.surfaces.shapes import BranchShape, tree_shape

DEPTH_MAX: Final = 8  # from then on a line says how deep it is instead of standing further right
_BELOW: Final = {"": "", "├ ": "│ ", "└ ": "  "}


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
    for depth, branch, job in _branches(grown):
        print_(_line(depth, branch, job, is_asked=job.id == job_id))
    parent = grown.job.parent_job_id
    if parent not in {None, *(job.id for _, job in grown.walk())}:
        remark(f"'{parent}', which {grown.job.id} names as its parent, is not there.")


def _branches(grown: Tree) -> Iterator[tuple[int, str, Job]]:
    """Every job with its depth and what is drawn before it. No recursion, as in `Tree.walk`."""
    waiting = [(0, "", "", grown)]
    while waiting:
        depth, before, corner, node = waiting.pop()
        yield depth, f"{before}{corner}", node.job
        below = f"{before}{_BELOW[corner]}"[: 2 * DEPTH_MAX]
        corners = ["└ ", *("├ " for _ in node.children[1:])]  # the last one first, as they wait
        waiting += [
            (depth + 1, below, each, child) for each, child in zip(corners, reversed(node.children), strict=False)
        ]


def _line(depth: int, branch: str, job: Job, *, is_asked: bool) -> Text:
    deep = f"[{depth}] " if depth > DEPTH_MAX else ""
    step = "" if job.step_index is None else f"  step {job.step_index}"
    if job.workflow_id is not None:
        step = f"{step} of {clean(job.workflow_id)}" if step else f"  of {clean(job.workflow_id)}"
    again = "  rerun" if job.rerun_of is not None else ""
    name = Text(clean(job.id), style="bold" if is_asked else "")
    return Text.assemble(
        Text(f"{branch}{deep}", style="dim"), name, f"  {clean(job.kind)}{step}{again}  ", state_of(job)
    )
