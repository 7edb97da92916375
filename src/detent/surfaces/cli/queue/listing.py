"""`detent queue list`: the queues, what is in them, who serves them, and what is set for them."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import click
from rich.text import Text

from detent.client.queues import Queue
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.numbers import cell
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import write_json, write_listing
from detent.surfaces.cli.pausing import state_of, told
from detent.surfaces.cli.tables import Column
from detent.surfaces.cli.times import between

Cell = Callable[[Queue, datetime], object]
# What each column shows, and how important it is: what waits, and whether it may go on, matters most.
COLUMNS: Final[tuple[tuple[Column, Cell], ...]] = (
    (Column("queue"), lambda queue, now: queue.name),
    (Column("state"), lambda queue, now: state_of(queue, "open")),
    (Column("ready"), lambda queue, now: cell(queue.ready)),
    (Column("at work", rank=1), lambda queue, now: cell(queue.held + queue.active)),
    (Column("workers", rank=2), lambda queue, now: _workers(queue)),
    (Column("oldest", rank=4), lambda queue, now: _age(queue, now)),
    (Column("limit", rank=5), lambda queue, now: Text("") if queue.depth_max is None else cell(queue.depth_max)),
    (Column("paused", rank=3, enough=30), told),
)


@click.command("list", cls=Command, example="detent queue list", shape=list[Queue])
@store_options
@JSON
def list_(url: str | None, tenant: str, as_json: bool) -> None:
    """List queues: what waits in each and since when, how many workers serve it, and whether it is paused.

    A queue is listed while it has jobs that have not ended, while a worker serves it, or while something is set for it.
    """
    with opened(url, tenant) as client:
        found = client.queues()
    if as_json:
        write_json(found)
    elif found:
        now = datetime.now(UTC)
        rows = [[show(queue, now) for _, show in COLUMNS] for queue in found]
        write_listing([column for column, _ in COLUMNS], [rows])
    else:
        remark("There are no queues: all jobs have ended, no worker is there, and nothing is set.")


def _workers(queue: Queue) -> Text:
    """Nobody where somebody is needed is worth a look. Programs that do not report themselves are not counted."""
    text = cell(queue.workers)
    text.style = "red" if queue.ready and not queue.workers else ""
    return text


def _age(queue: Queue, now: datetime) -> str:
    """How long the first job waits that could be claimed. The store's clock may be a little ahead of ours."""
    return "" if queue.oldest_ready_at is None else between(min(queue.oldest_ready_at, now), now)
