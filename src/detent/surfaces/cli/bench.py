"""`detent bench`: how fast jobs go through a store, beside plain SQL that writes the same rows."""

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Final, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

import click
from msgspec import Struct

from detent.client import SyncClient
from detent.client.addresses import store_of
from detent.client.verbs import CLAIM_MAX
from detent.store.sqlite.connection import Synchronous
from detent.store.sqlite.file import MEMORY
from detent.surfaces.cli.chatter import watched
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.failure import Failure, Missing
from detent.surfaces.cli.numbers import cell, counted
from detent.surfaces.cli.options import JSON
from detent.surfaces.cli.output import say, write_json, write_table
from detent.surfaces.cli.times import span
from detent.testing.bench import BATCH, PAIRS, Comparison, Figure, Raw, measure, on_sqlite

PAIRS_MAX: Final = 1_000
_URL: Final = click.option(
    "--url",
    envvar="DETENT_URL",
    metavar="URL",
    help="Measure beside this store: in its folder, or in its database; default: in a temporary folder.",
)
ENDED_MAX: Final = 10_000_000


class BenchShape(Struct, frozen=True, kw_only=True):
    """What was measured. `place` is the folder, or the server; `synchronous` whether every commit was synced.

    `comparisons` are of PostgreSQL: many callers beside one, and claims with a long history beside claims without.
    """

    place: str
    synchronous: Literal["full", "normal", "server"]
    pairs: int
    took_s: float
    figures: list[Figure]
    comparisons: list[Comparison] = []


class Place(Struct, frozen=True):
    """Where to measure: on a server, or in a folder; no folder: a temporary one."""

    folder: Path | None = None
    synchronous: Synchronous = "full"
    server: str | None = None


@click.command(cls=Command, example="detent bench\ndetent bench --url sqlite:////srv/jobs.db", shape=BenchShape)
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
@JSON
def bench(url: str | None, batch: int, pairs: int, ended: int, as_json: bool) -> None:
    """Measure how many jobs a second this machine can do.

    Jobs are enqueued, claimed and brought to their end, one at a time and in batches, in turn with plain SQL that
    writes the same rows. It takes some seconds. The store at URL is not touched: scratch files are made beside it, or
    scratch schemas in its database, and removed.
    """
    place = Place() if url is None else _place_of(url)
    begun_s, batches = monotonic(), sorted({batch, 1}, reverse=True)
    if place.server is not None:
        figures, comparisons = _on_server(place.server, batches, pairs, ended)
        where = urlsplit(place.server).hostname or "the server"
    else:
        with _scratch(place.folder) as folder:
            figures, comparisons = _in_folder(folder, batches, pairs, place.synchronous), []
            where = str(folder.parent)
    shape = BenchShape(
        place=where,
        synchronous=place.synchronous if place.server is None else "server",
        pairs=pairs,
        took_s=round(monotonic() - begun_s, 3),
        figures=figures,
        comparisons=comparisons,
    )
    write_json(shape) if as_json else _show(shape)


def _place_of(url: str) -> Place:
    store_of(url, {})  # refuses, with its reason, what is no address of a store
    parts = urlsplit(url)
    if parts.scheme != "sqlite":
        return Place(server=url)
    path = unquote(parts.path[1:])
    if path == MEMORY:
        raise Failure(f"'{url}' is kept in memory, and only a disk can be measured; give the address of a file")
    is_normal = dict(parse_qsl(parts.query)).get("synchronous") == "normal"
    return Place(Path(path).resolve().parent, "normal" if is_normal else "full")


def _on_server(url: str, batches: list[int], pairs: int, ended: int) -> tuple[list[Figure], list[Comparison]]:
    # Only whoever has a server has its driver.
    from detent.testing.bench_postgres import ROUNDS, compare_callers, compare_history, on_postgres, translated

    steps = len(batches) * (pairs + 1) + (2 if ended else 1) * (ROUNDS + 1)
    with translated(url), watched("measuring, pairs", total=steps) as watch:
        figures = [figure for batch in batches for figure in _measured(on_postgres(url), batch, pairs, watch.step)]
        comparisons = [compare_callers(url, on_round=watch.step)]
        if ended:
            comparisons.append(compare_history(url, ended, on_round=watch.step))
    return figures, comparisons


@contextmanager
def _scratch(parent: Path | None) -> Iterator[Path]:
    """A folder of our own, which is gone afterwards with all that is in it; also if it was told to end meanwhile."""
    try:
        scratch = TemporaryDirectory(prefix="detent-bench-", dir=parent)
    except FileNotFoundError as error:
        raise Missing(f"there is no folder '{parent}' to measure in; make it, or give another address") from error
    except OSError as error:
        message = f"'{parent}' takes no scratch files: {error.strerror}. Give an address in a folder that you may write"
        raise Failure(message) from error
    with scratch as name:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            yield Path(name)
        finally:
            signal.signal(signal.SIGTERM, before)


def _in_folder(folder: Path, batches: list[int], pairs: int, synchronous: Synchronous) -> list[Figure]:
    with watched("measuring, pairs", total=len(batches) * (pairs + 1)) as watch:
        return [
            figure
            for batch in batches
            for figure in _measured(on_sqlite(folder, batch, synchronous), batch, pairs, watch.step)
        ]


def _measured(
    opened: AbstractContextManager[tuple[Raw, SyncClient]], batch: int, pairs: int, on_pair: Callable[[], object]
) -> list[Figure]:
    with opened as (raw, client):
        return measure(raw, client, batch, pairs=pairs, on_pair=on_pair)


def _show(shape: BenchShape) -> None:
    rows = [
        (each.what, cell(each.batch), cell(each.detent_per_s), cell(each.raw_per_s), f"{each.ratio:.2f}")
        for each in shape.figures
    ]
    write_table(("jobs a second", "batch", "detent/s", "raw/s", "ratio"), rows)
    say()
    if shape.comparisons:
        others = [
            (each.what, cell(each.per_s), each.beside, cell(each.beside_per_s), f"{each.ratio:.2f}")
            for each in shape.comparisons
        ]
        write_table(("calls a second", "detent/s", "beside", "detent/s", "ratio"), others)
        say()
    durability = {
        "full": "synced at every commit",
        "normal": "not synced at every commit",
        "server": "as durable as the server is set",
    }
    say(
        f"Medians of {counted(shape.pairs, 'pair')} in {shape.place}, {durability[shape.synchronous]}; "
        f"{span(shape.took_s)}. raw is plain SQL that writes the same rows and decides nothing.",
        style="dim",
    )
