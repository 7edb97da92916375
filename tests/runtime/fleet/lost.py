"""A worker is killed with all its slots full, while others are there: how soon each of its jobs runs again."""

from datetime import UTC, datetime
from typing import Final

import detent
from detent import Policy
from detent.client import Event, Job, SyncClient
from detent.client.moments import to_moment
from tests.runtime.fleet.figures import share, spread
from tests.runtime.fleet.worker import Worker, at_work, until
from tests.store.processes.outcome import Outcome

JOBS: Final = 50
LATE_S_MAX: Final = 5.0  # beyond the lease
WAIT_S: Final = 60.0


def run_lost(url: str, *, lease_s: float, rounds: int) -> Outcome:
    outcome, took_s = Outcome(), list[float]()
    with detent.connect(url) as client:
        for number in range(rounds):
            took_s += _loss(outcome, client, url, number, lease_s)
        report = client.verify()  # two at once would be one of its violations
    outcome.expect_clean(report)
    outcome.expect_equal("jobs", report.jobs, JOBS * rounds)
    late_s = share(took_s, 0.99) - lease_s
    outcome.expect(late_s <= LATE_S_MAX, f"p99 is {late_s:.2f} s beyond the lease, of at most {LATE_S_MAX:g} s")
    outcome.summary = (
        f"{rounds} workers killed with {JOBS} running jobs each, leases of {lease_s:g} s: all {len(took_s)} ran again "
        f"elsewhere, from the kill to the next start {spread(took_s)}"
    )
    return outcome


def _loss(outcome: Outcome, client: SyncClient, url: str, number: int, lease_s: float) -> list[float]:
    """One kill, at the worst moment. The heirs come when there is nothing left to claim, and are at work before it."""
    policy = Policy(lease_s=lease_s, allow_unusual_lease=True)
    ids = [f"job{number}.{each}" for each in range(JOBS)]
    with Worker("apps:lost", url, f"doomed{number}", concurrency=JOBS) as doomed:
        client.enqueue_many([{"kind": "outlive", "policy": policy, "job_id": each} for each in ids])
        begun = [doomed.hear() for _ in ids]
        with at_work(client, "apps:lost", url, [f"heir{number}.1", f"heir{number}.2"]) as heirs:
            _until_renewed(client, ids[0])
            killed_at = datetime.now(UTC)
            begun += doomed.kill()
            ends = [client.wait(each, timeout_s=lease_s + WAIT_S) for each in ids]
            begun += [line for heir in heirs.values() for line in heir.kill()]
    outcome.expect_equal(
        "handlers that began",
        sorted(line["began"] for line in begun),
        sorted([each, n] for each in ids for n in (1, 2)),
    )
    return [_recovery_s(outcome, job, client.history(job.id), killed_at) for job in ends]


def _until_renewed(client: SyncClient, job_id: str) -> None:
    """All leases are extended together. Just after that a whole one has to pass before anybody may have the jobs."""
    before = client.get(job_id).lease_expires_at
    until(lambda: client.get(job_id).lease_expires_at != before, f"the lease of job {job_id} was not renewed")


def _recovery_s(outcome: Outcome, job: Job, events: list[Event], killed_at: datetime) -> float:
    """How long it took, if all is as it should be."""
    counted = (job.state, job.attempt, job.crashes, job.failures, job.interruptions, job.result)
    outcome.expect_equal(f"job {job.id}", counted, ("succeeded", 2, 1, 0, 0, 2))
    first, again = (event for event in events if event.verb == "start")
    ends_at = max(event.changes["lease_expires_at"] for event in events if event.attempt == 1 and _leases(event))
    outcome.expect(first.at < killed_at, f"job {job.id} was not running when its worker was killed")
    outcome.expect(again.at >= to_moment(ends_at), f"job {job.id} ran again before its lease had ended")
    outcome.expect(again.worker != first.worker, f"job {job.id} went to the dead worker again")
    return (again.at - killed_at).total_seconds()


def _leases(event: Event) -> bool:
    return event.changes.get("lease_expires_at") is not None
