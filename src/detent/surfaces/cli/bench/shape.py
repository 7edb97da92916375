"""What `detent bench` prints."""

from typing import Final, Literal

from msgspec import Struct

from detent.surfaces.cli.numbers import cell, counted
from detent.surfaces.cli.output import say, write_json, write_table
from detent.surfaces.cli.times import span
from detent.testing.bench import Comparison, Figure
from detent.testing.bench_worker import PAUSE_S, WorkerFigures

DURABILITY: Final = {
    "full": "synced at every commit",
    "normal": "not synced at every commit",
    "server": "as durable as the server is set",
}


class BenchShape(Struct, frozen=True, kw_only=True):
    """What was measured. `place` is the folder, or the server; `synchronous` whether every commit was synced.

    `comparisons` are of PostgreSQL: many callers beside one, and claims with a long history beside claims without.
    With --worker there is `worker`, and none of `pairs` and `figures`. With --http there are `comparisons` only: over
    HTTP beside the store.
    """

    place: str
    synchronous: Literal["full", "normal", "server"]
    pairs: int = 0
    took_s: float
    figures: list[Figure] = []
    comparisons: list[Comparison] = []
    worker: WorkerFigures | None = None


def show(shape: BenchShape, *, as_json: bool) -> None:
    if as_json:
        write_json(shape)
    elif shape.worker is not None:
        _show_worker(shape, shape.worker)
    elif not shape.figures:
        _show_http(shape)
    else:
        _show_store(shape)


def _show_store(shape: BenchShape) -> None:
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
    say(
        f"Medians of {counted(shape.pairs, 'pair')} in {shape.place}, {DURABILITY[shape.synchronous]}; "
        f"{span(shape.took_s)}. raw is plain SQL that writes the same rows and decides nothing.",
        style="dim",
    )


def _show_http(shape: BenchShape) -> None:
    rows = [(each.what, cell(each.per_s), cell(each.beside_per_s), f"{each.ratio:.2f}") for each in shape.comparisons]
    write_table(("jobs a second", "http/s", "store/s", "ratio"), rows)
    say()
    say(
        f"Medians of {counted(shape.pairs, 'pair')} in {shape.place}, {DURABILITY[shape.synchronous]}; "
        f"{span(shape.took_s)}. A full life is three requests: enqueue, claim and start, complete. The service is a "
        "process of its own, and so is who asks it.",
        style="dim",
    )


def _show_worker(shape: BenchShape, worker: WorkerFigures) -> None:
    memory = "not told here" if worker.idle_memory_mb is None else f"{worker.idle_memory_mb:.1f} MB"
    rows = [
        ("jobs a second", f"{worker.jobs_per_s:,} /s"),
        ("its processor, for each job", f"{worker.cpu_us:.0f} µs"),
        ("enqueue, median", f"{worker.enqueue_ms_p50:.1f} ms"),
        ("from enqueue to start, median", f"{worker.start_ms_p50:.1f} ms"),
        ("from enqueue to start, 95th percentile", f"{worker.start_ms_p95:.1f} ms"),
        ("its processor, with nothing to do", f"{worker.idle_cpu_percent:.1f} %"),
        ("its memory, with nothing to do", memory),
    ]
    write_table(("one worker process", "here"), rows)
    say()
    say(
        f"Of {counted(worker.jobs, 'job')} that waited and do nothing, {worker.whole:,} have claim, start and complete "
        f"in the log. From enqueue to start: one job every {PAUSE_S * 1_000:.0f} ms, from when enqueue has returned. "
        f"In {shape.place}, {DURABILITY[shape.synchronous]}; {span(shape.took_s)}.",
        style="dim",
    )
