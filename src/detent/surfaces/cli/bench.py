"""`detent bench`: how fast jobs go through the store on this disk, beside plain SQL that writes the same rows."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

import click
from msgspec import Struct

from detent.client.connecting import store_of
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
from detent.testing.bench import BATCH, PAIRS, Figure, measure

PAIRS_MAX: Final = 1_000
_URL: Final = click.option(
    "--url", envvar="DETENT_URL", metavar="URL", help="Measure in the folder of this store; default: a temporary one."
)


class BenchShape(Struct, frozen=True, kw_only=True):
    """What was measured. `place` is the folder, `synchronous` whether every commit was synced (`full`) or not."""

    place: str
    synchronous: Synchronous
    pairs: int
    took_s: float
    figures: list[Figure]


class Place(Struct, frozen=True):
    """Where to measure, and how durably. No folder: a temporary one."""

    folder: Path | None = None
    synchronous: Synchronous = "full"


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
@JSON
def bench(url: str | None, batch: int, pairs: int, as_json: bool) -> None:
    """Measure how many jobs a second this machine can do.

    Jobs are enqueued, claimed and brought to their end, one at a time and in batches, in turn with plain SQL that
    writes the same rows. It takes some seconds. The store at URL is not touched: scratch files are made beside it, and
    removed.
    """
    place = Place() if url is None else _place_of(url)
    begun_s = monotonic()
    with _scratch(place.folder) as folder:
        figures = _measured(folder, sorted({batch, 1}, reverse=True), pairs, place.synchronous)
    shape = BenchShape(
        place=str(folder.parent),
        synchronous=place.synchronous,
        pairs=pairs,
        took_s=round(monotonic() - begun_s, 3),
        figures=figures,
    )
    write_json(shape) if as_json else _show(shape)


def _place_of(url: str) -> Place:
    store_of(url, {})  # refuses, with its reason, what is no address of a store
    parts = urlsplit(url)
    path = unquote(parts.path[1:])
    if path == MEMORY:
        raise Failure(f"'{url}' is kept in memory, and only a disk can be measured; give the address of a file")
    is_normal = dict(parse_qsl(parts.query)).get("synchronous") == "normal"
    return Place(Path(path).resolve().parent, "normal" if is_normal else "full")


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


def _measured(folder: Path, batches: list[int], pairs: int, synchronous: Synchronous) -> list[Figure]:
    with watched("measuring, pairs", total=len(batches) * (pairs + 1)) as watch:
        return [
            figure
            for batch in batches
            for figure in measure(folder, batch, pairs=pairs, synchronous=synchronous, on_pair=watch.step)
        ]


def _show(shape: BenchShape) -> None:
    rows = [
        (each.what, cell(each.batch), cell(each.detent_per_s), cell(each.raw_per_s), f"{each.ratio:.2f}")
        for each in shape.figures
    ]
    write_table(("jobs a second", "batch", "detent/s", "raw/s", "ratio"), rows)
    say()
    durability = "synced at every commit" if shape.synchronous == "full" else "not synced at every commit"
    say(
        f"Medians of {counted(shape.pairs, 'pair')} in {shape.place}, {durability}; {span(shape.took_s)}. "
        "raw is plain SQL that writes the same rows and decides nothing.",
        style="dim",
    )
