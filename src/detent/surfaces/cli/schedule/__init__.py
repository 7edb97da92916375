"""`detent schedule`: jobs that the calendar asks for; look at them, pause and resume them, remove them."""

import click

from detent.surfaces.cli.command import Group
from detent.surfaces.cli.schedule.listing import list_
from detent.surfaces.cli.schedule.steering import pause, remove, resume


@click.group(cls=Group, commands=(list_, pause, resume, remove))
def schedule() -> None:
    """Look after schedules.

    A schedule is a job that comes again and again, by a cron expression. A program brings its own when its workers
    start.
    """
