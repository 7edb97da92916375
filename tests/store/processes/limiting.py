"""Many workers on jobs that share limits: at no point of the log are more leased, or claimed in a while, than may."""

import time
from collections import Counter, defaultdict
from typing import Final

import detent
from detent import Limit, Policy
from detent.client import Event, SyncClient
from tests.store.processes.gathering import gathered, let_go
from tests.store.processes.outcome import Outcome
from tests.store.processes.program import WAIT_S
from tests.store.processes.stores import all_events, all_jobs

LIMITS: Final = {
    "one": Limit(concurrency_max=1),
    "three": Limit(concurrency_max=3),
    "quick": Limit(rate_max=40, per_s=0.5),
    "both": Limit(concurrency_max=2, rate_max=30, per_s=0.25),
    "free": None,
}


def run_limited(url: str, *, processes: int = 4, workers: int = 4, jobs: int = 400, wait_s: float = WAIT_S) -> Outcome:
    outcome = Outcome()
    with detent.connect(url) as client:
        # Those of one key first, so that the others stand behind a crowd that is mostly to be passed over.
        for key, limit in LIMITS.items():
            client.enqueue_many([_asked(key, limit)] * (jobs // len(LIMITS)))
        given = [{"url": url, "name": f"p{number}", "workers": workers} for number in range(processes)]
        with gathered("limited", given) as programs:
            began_s = time.monotonic()
            told = let_go(programs, wait_s, go=True)
            took_s = time.monotonic() - began_s
        peaks = _judge(outcome, client, sum(line["done"] for line in told))
    shown = ", ".join(f"{key} {peaks[key]}" for key in LIMITS)
    outcome.summary = (
        f"{processes} processes x {workers} workers ran {jobs} jobs in {took_s:.1f} s; most at once, by key: {shown}"
    )
    return outcome


def _asked(key: str, limit: Limit | None) -> dict[str, object]:
    return {"kind": "k", "limit_key": None if limit is None else key, "policy": Policy(limit=limit)}


def _judge(outcome: Outcome, client: SyncClient, done: int) -> dict[str, int]:
    keys = {job.id: job.limit_key or "free" for job in all_jobs(client)}
    peaks = _peaks(all_events(client), keys)
    for key, limit in LIMITS.items():
        most = None if limit is None else limit.concurrency_max
        outcome.expect(most is None or peaks[key] == most, f"{peaks[key]} jobs of key {key} at once, of at most {most}")
    outcome.expect_equal("jobs done", done, len(keys))
    outcome.expect_clean(client.verify())  # the rates too
    return peaks


def _peaks(events: list[Event], keys: dict[str, str]) -> dict[str, int]:
    """How many jobs of each key were leased at most, in the order of the log."""
    leased: dict[str, set[str]] = defaultdict(set)
    peaks: Counter[str] = Counter()
    for event in events:
        held = leased[keys[event.job_id]]
        if event.changes.get("owner") is not None:
            held.add(event.job_id)
        elif "owner" in event.changes:
            held.discard(event.job_id)
        peaks[keys[event.job_id]] = max(peaks[keys[event.job_id]], len(held))
    return peaks
