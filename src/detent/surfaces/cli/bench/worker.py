"""A worker of its own, on a store of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from detent.surfaces.cli.bench.places import Place, scratch_folder
from detent.surfaces.cli.chatter import watched
from detent.surfaces.cli.failure import Failure
from detent.testing.bench import address
from detent.testing.bench_worker import BATCH, Unfinished, WorkerFigures, measure_worker

JOBS_ON_SERVER: Final = 60_000
JOBS_IN_FILE: Final = 20_000
JOBS_MAX: Final = 1_000_000


def measured(place: Place, jobs: int | None) -> tuple[WorkerFigures, str]:
    """The figures, and where they were measured."""
    jobs = jobs or (JOBS_IN_FILE if place.server is None else JOBS_ON_SERVER)
    with _store(place) as (url, where), watched("measuring, steps", total=2 + -(-jobs // BATCH)) as watch:
        try:
            return measure_worker(url, jobs, on_step=watch.step), where
        except Unfinished as unfinished:
            raise Failure(str(unfinished)) from unfinished


@contextmanager
def _store(place: Place) -> Iterator[tuple[str, str]]:
    if place.server is None:
        with scratch_folder(place.folder) as folder:
            yield f"{address(folder / 'worker.db')}?synchronous={place.synchronous}", str(folder.parent)
        return
    # Only whoever has a server has its driver.
    from detent.testing.bench_postgres import scratch, translated

    with translated(place.server), scratch(place.server) as url:
        yield url, place.host
