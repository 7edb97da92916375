"""A store beside plain SQL that writes the same rows."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from detent.client import SyncClient
from detent.store.sqlite.connection import Synchronous
from detent.surfaces.cli.chatter import watched
from detent.testing.bench import Comparison, Figure, Raw, measure, on_sqlite


def on_server(url: str, batches: list[int], pairs: int, ended: int) -> tuple[list[Figure], list[Comparison]]:
    # Only whoever has a server has its driver.
    from detent.testing.bench_postgres import ROUNDS, compare_callers, compare_history, on_postgres, translated

    steps = len(batches) * (pairs + 1) + (2 if ended else 1) * (ROUNDS + 1)
    with translated(url), watched("measuring, pairs", total=steps) as watch:
        figures = [figure for batch in batches for figure in _measured(on_postgres(url), batch, pairs, watch.step)]
        comparisons = [compare_callers(url, on_round=watch.step)]
        if ended:
            comparisons.append(compare_history(url, ended, on_round=watch.step))
    return figures, comparisons


def in_folder(folder: Path, batches: list[int], pairs: int, synchronous: Synchronous) -> list[Figure]:
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
