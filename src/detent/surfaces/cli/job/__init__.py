"""`detent job`: look at jobs, at their stories and at what keeps them; stop them and send them on."""

import click

from detent.surfaces.cli.command import Group
from detent.surfaces.cli.job.artifacts import artifacts
from detent.surfaces.cli.job.counting import count
from detent.surfaces.cli.job.explaining import explain
from detent.surfaces.cli.job.history import history
from detent.surfaces.cli.job.listing import list_
from detent.surfaces.cli.job.notes import notes
from detent.surfaces.cli.job.showing import show
from detent.surfaces.cli.job.steering import approve, cancel, deny, requeue, rerun, submit
from detent.surfaces.cli.job.tree import tree
from detent.surfaces.cli.job.waiting import wait

COMMANDS = (
    list_, count, show, explain, history, notes, artifacts, tree, wait, cancel, rerun, requeue, submit, approve, deny,
)  # fmt: skip


@click.group(cls=Group, commands=COMMANDS)
def job() -> None:
    """Look at jobs, and move them.

    JOB is a job's id. What moves a job goes on the record, with your name and your reason.
    """
