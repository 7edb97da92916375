"""Jobs that end their process, every time: each is a dead letter once its crashes are used up, and never runs again."""

import time
from typing import Final

import detent
from detent import Policy, Retry
from detent.client import Job, SyncClient
from tests.runtime.fleet.worker import Worker
from tests.store.processes.outcome import Outcome
from tests.store.processes.program import WAIT_S, Line

ATTEMPTS_MAX: Final = 9  # so many that crashes are used up before them


def run_deadly(url: str, *, jobs: int, crashes_max: int) -> Outcome:
    """Half of them take the whole worker along, one at a time; the others only the child that they have."""
    outcome = Outcome()
    retry = Retry(max_attempts=ATTEMPTS_MAX, base_s=0.01, crashes_max=crashes_max)
    policy = Policy(lease_s=2.0, allow_unusual_lease=True, retry=retry)
    ids = {kind: [f"{kind}{number}" for number in range(jobs)] for kind in ("die", "vanish")}
    with detent.connect(url) as client, Worker("apps:fragile", url, "lasting", children=1) as lasting:
        for kind, listed in ids.items():
            client.enqueue_many([{"kind": kind, "job_id": each, "policy": policy} for each in listed])
        deaths, begun = _ground_down(client, url)
        ends = [client.wait(each, timeout_s=WAIT_S) for listed in ids.values() for each in listed]
        outcome.expect_equal("exit code of the worker whose children died", lasting.terminate(), 0)
        begun += lasting.ended()
        outcome.expect_clean(client.verify())
    for job in ends:
        _judge(outcome, job, crashes_max)
    wanted = [[each, n] for listed in ids.values() for each in listed for n in range(1, crashes_max + 1)]
    outcome.expect_equal("handlers that began", sorted(line["began"] for line in begun), sorted(wanted))
    outcome.summary = (
        f"{jobs} jobs that kill their worker and {jobs} that end their process: {deaths} workers and "
        f"{crashes_max * jobs} children died, {sum(_is_buried(job) for job in ends)} dead letters with "
        f"infrastructure_failure after {crashes_max} crashes each"
    )
    return outcome


def _ground_down(client: SyncClient, url: str) -> tuple[int, list[Line]]:
    """One worker after the other, as long as one of these jobs can take it along; and what they told."""
    deaths, begun = 0, list[Line]()
    while True:
        with Worker("apps:deadly", url, f"brief{deaths}", threads=1) as brief:
            while brief.is_running and _are_left(client):
                time.sleep(0.05)
            if brief.is_running:
                return deaths, begun + brief.kill()
            begun.append(brief.hear())
            deaths += 1


def _are_left(client: SyncClient) -> bool:
    return any(phase != "ended" for (phase,) in client.count(by=["phase"], kind="die"))


def _judge(outcome: Outcome, job: Job, crashes_max: int) -> None:
    counted = (job.attempt, job.crashes, job.failures, _is_buried(job))
    outcome.expect_equal(f"job {job.id}, '{job.state}'", counted, (crashes_max, crashes_max, 0, True))


def _is_buried(job: Job) -> bool:
    reason = None if job.error is None else job.error.reason_code
    return (job.state, reason) == ("dead_lettered", "infrastructure_failure")
