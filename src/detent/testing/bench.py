"""What a store costs beside plain SQL on the same tables (`detent.testing.raw`, `detent.testing.raw_postgres`).

Both live the same lives, a pair at a time, one right after the other, so that a busy machine slows both. A figure is
the median over the pairs: of enqueues, of claims, and of full lives.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final, Protocol
from urllib.parse import quote

from msgspec import Struct

from detent.client import SyncClient, connect
from detent.store.sqlite.connection import Synchronous
from detent.testing.raw import KIND, WORKER, RawSqlite

PAIRS: Final = 15
BATCH: Final = 100
STEPS: Final = ("enqueue", "claim", "full life")
JOBS: Final = 500  # at least so many in one measurement, unless that takes too many batches
BATCHES_MAX: Final = 40

Taken = tuple[float, float, float]  # seconds, for each of STEPS


class Figure(Struct, frozen=True, kw_only=True):
    """Jobs a second, in batches of so many. `ratio` is the median of detent's speed over raw's in each pair."""

    what: str
    batch: int
    detent_per_s: int
    raw_per_s: int
    ratio: float


class Comparison(Struct, frozen=True, kw_only=True):
    """So many a second, beside so many of something else. `ratio` is the median over the rounds."""

    what: str
    per_s: int
    beside: str
    beside_per_s: int
    ratio: float


class Raw(Protocol):
    """Who writes the same rows without an engine."""

    def enqueue(self, batch: int) -> None: ...
    def claim(self, batch: int) -> list[int]: ...
    def start(self, numbers: list[int]) -> int: ...
    def complete(self, numbers: list[int], ends: int) -> None: ...


def measure(
    raw: Raw, client: SyncClient, batch: int, *, pairs: int = PAIRS, on_pair: Callable[[], object] = lambda: None
) -> list[Figure]:
    """A figure for each step."""
    live = live_alone if batch == 1 else live_together
    taken = []
    for _ in range(pairs + 1):
        theirs = _each(lambda times: _raw(raw, batch, times), batch)
        taken.append((theirs, _each(lambda times: live(client, batch, times), batch)))
        on_pair()
    return _figures(taken[1:], batch)  # the first pair warms up


@contextmanager
def on_sqlite(folder: Path, batch: int, synchronous: Synchronous = "full") -> Iterator[tuple[Raw, SyncClient]]:
    """In two files that are made in the folder and stay there."""
    with (
        closing(RawSqlite(str(folder / f"raw-{batch}.db"), synchronous=synchronous)) as raw,
        connect(address(folder / f"detent-{batch}.db"), synchronous=synchronous) as client,
    ):
        yield raw, client


def live_together(client: SyncClient, batch: int, times: int = 1) -> Taken:
    """So many full lives, in one call for each verb; several times, one verb after the other."""
    began = perf_counter()
    for _ in range(times):
        client.enqueue_many([{"kind": KIND, "payload": {}} for _ in range(batch)])
    enqueued = perf_counter()
    claims = [client.claim(worker=WORKER, kinds=[KIND], limit=batch) for _ in range(times)]
    claimed = perf_counter()
    for jobs in claims:
        fences = [{"job_id": job.id, "worker": WORKER, "attempt": job.attempt} for job in jobs]
        client.start_many(fences)
        client.complete_many(fences)
    return enqueued - began, claimed - enqueued, perf_counter() - began


def live_alone(client: SyncClient, batch: int = 1, times: int = 1) -> Taken:
    """Full lives, by the verbs for a single job."""
    assert batch == 1, "of several, use live_together"
    began = perf_counter()
    for _ in range(times):
        client.enqueue(KIND, {})
    enqueued = perf_counter()
    claims = [client.claim(worker=WORKER, kinds=[KIND]) for _ in range(times)]
    claimed = perf_counter()
    for (job,) in claims:
        client.start(job.id, worker=WORKER, attempt=job.attempt)
        client.complete(job.id, worker=WORKER, attempt=job.attempt)
    return enqueued - began, claimed - enqueued, perf_counter() - began


def address(path: Path) -> str:
    return f"sqlite:///{quote(str(path.resolve()))}"


def _raw(raw: Raw, batch: int, times: int) -> Taken:
    began = perf_counter()
    for _ in range(times):
        raw.enqueue(batch)
    enqueued = perf_counter()
    claims = [raw.claim(batch) for _ in range(times)]
    claimed = perf_counter()
    for numbers in claims:
        raw.complete(numbers, raw.start(numbers))
    return enqueued - began, claimed - enqueued, perf_counter() - began


def _each(live: Callable[[int], Taken], batch: int) -> Taken:
    """Seconds per job: the mean of one measurement."""
    times = max(1, min(BATCHES_MAX, JOBS // batch))
    enqueues, claims, lives = (seconds / (times * batch) for seconds in live(times))
    return enqueues, claims, lives


def _figures(pairs: list[tuple[Taken, Taken]], batch: int) -> list[Figure]:
    return [
        Figure(
            what=what,
            batch=batch,
            detent_per_s=round(1 / median(ours[step] for _, ours in pairs)),
            raw_per_s=round(1 / median(theirs[step] for theirs, _ in pairs)),
            ratio=round(median(theirs[step] / ours[step] for theirs, ours in pairs), 3),
        )
        for step, what in enumerate(STEPS)
    ]
