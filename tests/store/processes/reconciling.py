"""Reconcilers at once over leases that all ran out together: each is expired once."""

import time
from collections import Counter
from datetime import UTC, datetime
from typing import Final

import detent
from tests.store.processes.gathering import gathered, let_go
from tests.store.processes.outcome import Outcome
from tests.store.processes.stores import all_events, all_jobs

LEASE_S: Final = 0.2
LIMIT: Final = 10
CLAIM: Final = 1_000
RETRY: Final = detent.Retry(base_s=3_600)  # what was expired stays where it is


def run_reconcilers(url: str, *, reconcilers: int = 2, jobs: int = 500) -> Outcome:
    outcome = Outcome()
    with detent.connect(url) as client:
        client.enqueue_many({"kind": "k", "policy": detent.Policy(retry=RETRY)} for _ in range(jobs))
        claimed = [
            job
            for _ in range(0, jobs, CLAIM)
            for job in client.claim(worker="lost", limit=CLAIM, lease_s=LEASE_S, allow_unusual_lease=True)
        ]
        over_at = max(job.lease_expires_at for job in claimed if job.lease_expires_at is not None)
        time.sleep(max((over_at - datetime.now(UTC)).total_seconds(), 0))
        with gathered("reconciler", [{"url": url, "limit": LIMIT}] * reconcilers) as programs:
            began_s = time.monotonic()
            told = let_go(programs, go=True)
            took_s = time.monotonic() - began_s
        expired = Counter(event.job_id for event in all_events(client) if event.verb == "expire")
        outcome.expect_equal("jobs expired", len(expired), jobs)
        outcome.expect_equal("jobs expired twice", [job_id for job_id, times in expired.items() if times > 1], [])
        outcome.expect_equal("jobs that reconcilers say they moved", sum(line["moved"] for line in told), jobs)
        outcome.expect_equal("crashes", {job.crashes for job in all_jobs(client)}, {1})
        outcome.expect_clean(client.verify())
    share = " and ".join(f"{line['moved']} in {line['batches']} batches" for line in told)
    outcome.summary = f"{reconcilers} reconcilers expired {len(expired)} leases in {took_s:.1f} s: {share}"
    return outcome
