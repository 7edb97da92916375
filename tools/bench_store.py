"""What the embedded store costs beside plain apsw on the same tables: full lives, claims with a long history, verify.

    python tools/bench_store.py                     # lives, in batches and one at a time
    python tools/bench_store.py --history 1000000   # also claims and verify with so many ended jobs in the file

Each figure is the median of pairs measured one after the other, so that a busy machine slows both. `--json` for
programs.
"""

import argparse
import json
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

from detent.client import SyncClient, connect
from detent.testing.raw import KIND, WORKER, Raw

PAIRS: Final = 15
BATCH: Final = 100
LIVES: Final = {BATCH: 500, 1: 40}  # in one measurement, by the size of the batch

Figures = dict[str, Any]


def seconds(act: Callable[[], object]) -> float:
    began = perf_counter()
    act()
    return perf_counter() - began


def live_in_batches(client: SyncClient, batch: int) -> None:
    client.enqueue_many([{"kind": KIND, "payload": {}} for _ in range(batch)])
    jobs = client.claim(worker=WORKER, kinds=[KIND], limit=batch)
    fences = [{"job_id": job.id, "worker": WORKER, "attempt": job.attempt} for job in jobs]
    client.start_many(fences)
    client.complete_many(fences)


def live_one_by_one(client: SyncClient) -> None:
    client.enqueue(KIND, {})
    (job,) = client.claim(worker=WORKER, kinds=[KIND])
    client.start(job.id, worker=WORKER, attempt=job.attempt)
    client.complete(job.id, worker=WORKER, attempt=job.attempt)


def lives(folder: Path, batch: int, *, pairs: int = PAIRS) -> Figures:
    """Full lives a second, ours and raw, and the median of their ratios."""
    count = LIVES[batch]
    raw = Raw(str(folder / f"raw-{batch}.db"))
    with connect(f"sqlite:///{folder}/ours-{batch}.db") as client:
        one = (lambda: live_one_by_one(client)) if batch == 1 else (lambda: live_in_batches(client, batch))
        timed = [_pair(lambda: raw.lives(batch), one, count // batch) for _ in range(pairs + 1)][1:]
    raw.close()
    return {
        "raw_lives_per_s": round(count / median(theirs for theirs, _ in timed)),
        "lives_per_s": round(count / median(ours for _, ours in timed)),
        "ratio": round(median(theirs / ours for theirs, ours in timed), 3),
    }


def claims(folder: Path, full: Path, *, pairs: int = PAIRS) -> Figures:
    """A claim of a batch with the history in the file, beside one in an empty file."""
    with connect(f"sqlite:///{folder}/empty.db") as empty, connect(f"sqlite:///{full}") as long:
        timed = [(_claim_s(empty), _claim_s(long)) for _ in range(pairs * 4)][pairs:]
    return {
        "empty_us_per_job": round(median(short for short, _ in timed) / BATCH * 1e6, 1),
        "full_us_per_job": round(median(after for _, after in timed) / BATCH * 1e6, 1),
        "ratio": round(median(after / short for short, after in timed), 3),
    }


def verify(full: Path) -> Figures:
    with connect(f"sqlite:///{full}") as client:
        began = perf_counter()
        report = client.verify()
        took_s = perf_counter() - began
    return {
        "jobs": report.jobs,
        "events": report.events,
        "violations": sum(report.counts.values()),
        "seconds": round(took_s, 1),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def fill(path: Path, jobs: int) -> None:
    """Ended jobs, made the quick way: the rows are those the engine would write."""
    raw = Raw(str(path), synchronous="normal")
    for _ in range(jobs // 500):
        raw.lives(500)
    raw.close()


def measure(history: int) -> Figures:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = {f"lives in batches of {BATCH}": lives(folder, BATCH), "lives one at a time": lives(folder, 1)}
        if history:
            full = folder / "full.db"
            fill(full, history)
            found[f"verify of {history} ended jobs"] = verify(full)
            found[f"claims with {history} ended jobs"] = claims(folder, full)
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--history", type=int, default=0, help="how many ended jobs to claim and verify beside")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.history)
    if options.json:
        print(json.dumps(found, indent=2))
        return 0
    for what, figures in found.items():
        print(what)
        for name, value in figures.items():
            print(f"  {name:<18} {value:>10,}")
    return 0


def _pair(theirs: Callable[[], object], ours: Callable[[], object], times: int) -> tuple[float, float]:
    return seconds(lambda: [theirs() for _ in range(times)]), seconds(lambda: [ours() for _ in range(times)])


def _claim_s(client: SyncClient) -> float:
    """Only the claim is timed; what it took is brought to its end."""
    client.enqueue_many([{"kind": KIND, "payload": {}} for _ in range(BATCH)])
    began = perf_counter()
    jobs = client.claim(worker=WORKER, kinds=[KIND], limit=BATCH)
    took_s = perf_counter() - began
    fences = [{"job_id": job.id, "worker": WORKER, "attempt": job.attempt} for job in jobs]
    client.start_many(fences)
    client.complete_many(fences)
    return took_s


if __name__ == "__main__":
    sys.exit(main())
