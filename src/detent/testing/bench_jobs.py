"""The jobs that a worker is measured with (`detent.testing.bench_worker`). A worker's own process imports this."""

import os
from pathlib import Path
from time import monotonic_ns, process_time
from typing import Final

from msgspec import Struct

from detent.app import App

IDLE: Final = "bench-idle"  # the queue of what does nothing
PROBE: Final = "bench-probe"  # the queue of what tells something
_STATM: Final = Path("/proc/self/statm")

app: Final = App()


class Meter(Struct, frozen=True):
    """What the worker's process has used: seconds of a core, and its memory now, where the system tells."""

    cpu_s: float
    memory_bytes: int | None


@app.job(queue=IDLE)
async def nothing() -> None:
    """No more than a job has to."""


@app.job(queue=PROBE)
async def stamp() -> int:
    """When its handler began, by a clock that all processes of a machine share."""
    return monotonic_ns()


@app.job(queue=PROBE)
async def meter() -> Meter:
    pages = int(_STATM.read_text().split()[1]) if _STATM.exists() else None  # it is no disk
    return Meter(process_time(), None if pages is None else pages * os.sysconf("SC_PAGE_SIZE"))
