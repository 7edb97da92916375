"""The commands that set something for a queue: pause, resume, limit."""

from datetime import UTC, datetime
from typing import Final

import click
from rich.text import Text

from detent.client.queues import Queue
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.job.steering import ACTOR, REASON, login_name
from detent.surfaces.cli.numbers import counted
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import clean, write_json
from detent.surfaces.cli.output import show as print_
from detent.surfaces.cli.pausing import completing, state_of, told

QUEUE: Final = click.argument(
    "name", metavar="QUEUE", shell_complete=completing(lambda client: [queue.name for queue in client.queues()])
)


@click.command(cls=Command, example='detent queue pause ocr --reason "the scanner is away"', shape=Queue)
@QUEUE
@ACTOR
@REASON
@store_options
@JSON
def pause(name: str, actor: str | None, reason: str | None, url: str | None, tenant: str, as_json: bool) -> None:
    """Let nobody claim jobs from a queue, until it is resumed.

    Jobs that were claimed go on, and new ones may come in. A queue that is paused already stays as it is.
    """
    with opened(url, tenant) as client:
        client.pause_queue(name, actor=actor or login_name(), reason=reason)
        queue = client.queue(name)
    _show(queue, told(queue, datetime.now(UTC)), as_json=as_json)


@click.command(cls=Command, example="detent queue resume ocr", shape=Queue)
@QUEUE
@store_options
@JSON
def resume(name: str, url: str | None, tenant: str, as_json: bool) -> None:
    """Let a paused queue go on."""
    with opened(url, tenant) as client:
        client.resume_queue(name)
        queue = client.queue(name)
    _show(queue, f"{counted(queue.ready, 'job')} ready", as_json=as_json)


@click.command(cls=Command, example="detent queue limit ocr --max 10000\ndetent queue limit ocr --none", shape=Queue)
@QUEUE
@click.option("--max", "depth_max", type=click.IntRange(0), metavar="N", help="How many jobs may wait in it.")
@click.option("--none", "is_unlimited", is_flag=True, help="Any number may wait in it.")
@store_options
@JSON
def limit(name: str, depth_max: int | None, is_unlimited: bool, url: str | None, tenant: str, as_json: bool) -> None:
    """Bound how many jobs may wait in a queue.

    What would come in beyond is refused (queue_full); what is in it stays.
    """
    if (depth_max is None) != is_unlimited:
        raise click.UsageError("Say how many may wait: --max N, or --none for any number.")
    with opened(url, tenant) as client:
        client.limit_queue(name, depth_max=depth_max)
        queue = client.queue(name)
    most = "any number of jobs" if queue.depth_max is None else f"at most {counted(queue.depth_max, 'job')}"
    _show(queue, f"{most} may wait in it, {queue.ready:,} ready now", as_json=as_json)


def _show(queue: Queue, more: str, *, as_json: bool) -> None:
    if as_json:
        write_json(queue)
        return
    name = Text(clean(queue.name), style="bold")
    print_(Text.assemble(name, "  ", state_of(queue, "open"), "  ", Text(more, style="dim")))
