"""`detent workers`: who is there, what each serves, and how busy it is."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import click
from msgspec.structs import asdict
from rich.text import Text

from detent.client.workers import Worker
from detent.store.fleet import WORKER_KEPT_S
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import write_json, write_listing
from detent.surfaces.cli.tables import Column
from detent.surfaces.cli.times import relative


class WorkerShape(Worker, frozen=True, kw_only=True):
    """A worker as it last reported itself. `is_gone`: it has missed three reports. None for kinds or adapters: any."""

    is_gone: bool


Cell = Callable[[WorkerShape, datetime], object]
# What each column shows, and how important it is.
COLUMNS: Final[tuple[tuple[Column, Cell], ...]] = (
    (Column("worker"), lambda worker, now: worker.name),
    (Column("state"), lambda worker, now: _state(worker)),
    (Column("slots"), lambda worker, now: _slots(worker)),
    (Column("queues", enough=12), lambda worker, now: ", ".join(worker.queues)),
    (
        Column("kinds", rank=2, enough=12),
        lambda worker, now: "any" if worker.kinds is None else ", ".join(worker.kinds),
    ),
    (Column("host", rank=3), lambda worker, now: worker.host),
    (Column("pid", rank=4), lambda worker, now: Text(str(worker.pid or ""), justify="right")),
    (Column("version", rank=6), lambda worker, now: worker.version),
    (Column("started", rank=5), lambda worker, now: relative(worker.started_at, now)),
    (Column("seen", rank=1), lambda worker, now: relative(worker.seen_at, now)),
)


@click.command(cls=Command, example="detent workers\ndetent workers --all", shape=list[WorkerShape])
@click.option("--all", "is_all", is_flag=True, help="Also those that were heard of within a day, and are gone.")
@store_options
@JSON
def workers(is_all: bool, url: str | None, tenant: str, as_json: bool) -> None:
    """List workers: what each serves, and how many of its slots are taken.

    A worker reports itself every few seconds. One that has missed three reports is gone.
    """
    with opened(url, tenant) as client:
        here = {worker.name for worker in client.workers()}
        found = client.workers(within_s=WORKER_KEPT_S)
    listed = [
        WorkerShape(**asdict(each), is_gone=each.name not in here) for each in found if is_all or each.name in here
    ]
    if as_json:
        write_json(listed)
    elif listed:
        now = datetime.now(UTC)
        rows = [[show(worker, now) for _, show in COLUMNS] for worker in listed]
        write_listing([column for column, _ in COLUMNS], [rows])
    else:
        remark(f"No worker is there; the last was '{found[0].name}', see --all." if found else "No worker is there.")


def _slots(worker: WorkerShape) -> str:
    """`3/100 async, 0/16 thread`; of one that does not say what they are, the numbers alone."""
    if not worker.lanes:
        return f"{worker.running}/{worker.slots}"
    return ", ".join(f"{lane.running}/{lane.slots} {lane.isolation}" for lane in worker.lanes)


def _state(worker: WorkerShape) -> Text:
    if worker.is_gone:
        return Text("gone", style="red")
    if worker.is_draining:
        return Text("draining", style="yellow")
    lanes = [(lane.running, lane.slots) for lane in worker.lanes] or [(worker.running, worker.slots)]
    full = [running >= slots for running, slots in lanes]
    return Text("busy" if all(full) else "partly busy" if any(full) else "open", style="green")
