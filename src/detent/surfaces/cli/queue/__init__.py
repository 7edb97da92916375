"""`detent queue`: queues as wholes; look at them, pause and resume them, bound them."""

import click

from detent.surfaces.cli.command import Group
from detent.surfaces.cli.queue.listing import list_
from detent.surfaces.cli.queue.setting import limit, pause, resume


@click.group(cls=Group, commands=(list_, pause, resume, limit))
def queue() -> None:
    """Look after queues.

    From a paused queue nothing is claimed; jobs that were claimed go on, and new ones may come in.
    """
