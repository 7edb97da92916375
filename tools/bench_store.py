"""What a long history costs the embedded store: claims and verify with so many ended jobs in the file.

    python tools/bench_store.py                     # 20,000 of them
    python tools/bench_store.py --history 1000000

Claims are timed in turn with those in an empty file, so that a busy machine slows both. `--json` for programs. What the
store costs without a history: `detent bench`.
"""

import argparse
import json
import resource
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, Final

from detent.client import SyncClient, connect
from detent.testing.bench import BATCH, PAIRS, address, live_together
from detent.testing.raw import RawSqlite

HISTORY: Final = 20_000

Figures = dict[str, Any]


def claims(folder: Path, full: Path, *, pairs: int = PAIRS) -> Figures:
    """A claim of a batch with the history in the file, beside one in an empty file."""
    with connect(address(folder / "empty.db")) as empty, connect(address(full)) as long:
        timed = [(_claim_s(empty), _claim_s(long)) for _ in range(pairs * 4)][pairs:]
    return {
        "empty_us_per_job": round(median(short for short, _ in timed) / BATCH * 1e6, 1),
        "full_us_per_job": round(median(after for _, after in timed) / BATCH * 1e6, 1),
        "ratio": round(median(after / short for short, after in timed), 3),
    }


def verify(full: Path) -> Figures:
    with connect(address(full)) as client:
        began, spent = perf_counter(), process_time()
        report = client.verify()
        took_s, spent_s = perf_counter() - began, process_time() - spent
    return {
        "jobs": report.jobs,
        "events": report.events,
        "violations": sum(report.counts.values()),
        "seconds": round(took_s, 1),
        "cpu_seconds": round(spent_s, 2),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def fill(path: Path, jobs: int) -> None:
    """Ended jobs, made the quick way: the rows are those the engine would write."""
    raw = RawSqlite(str(path), synchronous="normal")
    for _ in range(jobs // 500):
        raw.lives(500)
    raw.close()


def measure(history: int) -> Figures:
    with tempfile.TemporaryDirectory() as name:
        folder, full = Path(name), Path(name) / "full.db"
        fill(full, history)
        verified = verify(full)
        claimed = claims(folder, full)
    return {f"verify of {history:,} ended jobs": verified, f"claims with {history:,} ended jobs": claimed}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--history", type=int, default=HISTORY, help="how many ended jobs to claim and verify beside")
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


def _claim_s(client: SyncClient) -> float:
    """Of a batch of full lives, what the claim took."""
    return live_together(client, BATCH)[1]


if __name__ == "__main__":
    sys.exit(main())
