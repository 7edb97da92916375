"""`detent bench`: the command."""

from time import monotonic
from typing import Any, Final

import click

from detent.client.verbs import CLAIM_MAX
from detent.surfaces.cli.bench.http import over_http
from detent.surfaces.cli.bench.places import Place, place_of, scratch_folder
from detent.surfaces.cli.bench.shape import BenchShape, show
from detent.surfaces.cli.bench.store import in_folder, on_server
from detent.surfaces.cli.bench.worker import JOBS_IN_FILE, JOBS_MAX, JOBS_ON_SERVER, measured
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.failure import Failure
from detent.surfaces.cli.options import JSON
from detent.testing.bench import BATCH, PAIRS

PAIRS_MAX: Final = 1_000
ENDED_MAX: Final = 10_000_000
_URL: Final = click.option(
    "--url",
    envvar="DETENT_URL",
    metavar="URL",
    help="Measure beside this store: in its folder, or in its database; default: in a temporary folder.",
)


@click.command(
    cls=Command,
    example="detent bench\ndetent bench --url sqlite:////srv/jobs.db\ndetent bench --worker --jobs 10000\n"
    "detent bench --http",
    shape=BenchShape,
)
@_URL
@click.option(
    "--batch",
    default=BATCH,
    show_default=True,
    type=click.IntRange(1, CLAIM_MAX),
    metavar="N",
    help="Jobs to a transaction.",
)
@click.option(
    "--pairs", default=PAIRS, show_default=True, type=click.IntRange(1, PAIRS_MAX), metavar="N", help="Measurements."
)
@click.option(
    "--ended",
    default=0,
    type=click.IntRange(0, ENDED_MAX),
    metavar="N",
    help="On PostgreSQL: also measure claims where so many jobs have ended.",
)
@click.option("--http", "is_http", is_flag=True, help="Measure a service instead, in batches of N and of 5 N.")
@click.option("--worker", "is_worker", is_flag=True, help="Measure a worker instead.")
@click.option(
    "--jobs",
    type=click.IntRange(1, JOBS_MAX),
    metavar="N",
    help=f"Of --worker: {JOBS_ON_SERVER:,} on a server, else {JOBS_IN_FILE:,}.",
)
@JSON
def bench(url: str | None, is_http: bool, is_worker: bool, jobs: int | None, as_json: bool, **of_store: int) -> None:
    """Measure how many jobs a second this machine can do.

    Jobs are enqueued, claimed and brought to their end, one at a time and in batches, in turn with plain SQL that
    writes the same rows. It takes some seconds. The store at URL is not touched: scratch files are made beside it, or
    scratch schemas in its database, and removed.

    With --worker: what one process of `detent worker` does with jobs that wait and do nothing, how soon it begins one
    that comes while it has nothing to do, and what it uses then. Exit 1: not all of them are in the log as they should.

    With --http: full lives by batch verbs over HTTP, asked of a service in a process of its own, in turn with the same
    on a store without one.
    """
    if is_http and is_worker:
        raise click.UsageError("--http and --worker measure different things; give one of them.")
    place, begun_s = place_of(url), monotonic()
    of_stores = _http if is_http else _store
    found = _worker(place, jobs) if is_worker else of_stores(place, **of_store)
    durability = place.synchronous if place.server is None else "server"
    shape = BenchShape(synchronous=durability, took_s=round(monotonic() - begun_s, 3), **found)
    show(shape, as_json=as_json)
    if shape.worker is not None and shape.worker.whole < shape.worker.jobs:
        missing = shape.worker.jobs - shape.worker.whole
        raise Failure(f"{missing:,} jobs do not have the events of a whole life; this is a bug of Detent's")


def _worker(place: Place, jobs: int | None) -> dict[str, Any]:
    figures, where = measured(place, jobs)
    return {"place": where, "worker": figures}


def _http(place: Place, *, batch: int, pairs: int, ended: int) -> dict[str, Any]:
    if ended:
        raise click.UsageError("--ended is for claims of a store; leave it out with --http.")
    comparisons, where = over_http(place, batch, pairs)
    return {"place": where, "pairs": pairs, "comparisons": comparisons}


def _store(place: Place, *, batch: int, pairs: int, ended: int) -> dict[str, Any]:
    batches = sorted({batch, 1}, reverse=True)
    if place.server is not None:
        figures, comparisons = on_server(place.server, batches, pairs, ended)
        return {"place": place.host, "pairs": pairs, "figures": figures, "comparisons": comparisons}
    with scratch_folder(place.folder) as folder:
        figures = in_folder(folder, batches, pairs, place.synchronous)
    return {"place": str(folder.parent), "pairs": pairs, "figures": figures}
