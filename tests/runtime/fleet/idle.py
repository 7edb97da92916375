"""How much memory a worker has that has nothing to do: when it has just come, and after it was busy."""

import time
from pathlib import Path
from typing import Final

import detent
from tests.runtime.fleet.worker import Worker, until, until_reported
from tests.store.processes.outcome import Outcome

RSS_MB_MAX: Final = 60.0
BATCH: Final = 1_000
WAIT_S: Final = 60.0


def run_idle(url: str, *, jobs: int, settle_s: float) -> Outcome:
    outcome = Outcome()
    with detent.connect(url) as client, Worker("quiet:app", url, "w") as worker:
        until_reported(client, worker)
        time.sleep(settle_s)
        fresh_mb = rss_mb(worker.pid)
        for _ in range(jobs // BATCH):
            client.enqueue_many([{"kind": "rest"}] * BATCH)
        until(lambda: client.count(outcome="success").get((), 0) == jobs, "jobs were left", WAIT_S)
        time.sleep(settle_s)
        rested_mb = rss_mb(worker.pid)
        outcome.expect_equal("exit code of the worker", worker.terminate(), 0)
    outcome.expect(fresh_mb <= RSS_MB_MAX, f"an idle worker has {fresh_mb:.1f} MB, of at most {RSS_MB_MAX:g}")
    outcome.summary = f"an idle worker has {fresh_mb:.1f} MB; after {jobs:,} jobs {rested_mb:.1f} MB"
    return outcome


def rss_mb(pid: int) -> float:
    """Resident memory, in millions of bytes."""
    (line,) = [
        line
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
        if line.startswith("VmRSS")
    ]
    return int(line.split()[1]) * 1_024 / 1e6
