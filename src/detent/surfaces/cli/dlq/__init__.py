"""`detent dlq`: dead letters, the jobs that were set aside; look at them, run them again, or remove them."""

import click

from detent.surfaces.cli.command import Group
from detent.surfaces.cli.dlq.listing import list_
from detent.surfaces.cli.dlq.purging import purge
from detent.surfaces.cli.dlq.redriving import redrive
from detent.surfaces.cli.dlq.showing import show


@click.group(cls=Group, commands=(list_, show, redrive, purge))
def dlq() -> None:
    """Look after dead letters.

    A dead letter is a job that was set aside: its attempts were used up, or somebody did so on purpose.
    """
