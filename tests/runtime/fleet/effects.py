"""Jobs that write a row and complete in one transaction, on workers that are killed at random: one row for each.

The table lets a job have as many rows as it likes, so that it is not the database that forbids a second one.
"""

import time
from collections import Counter
from random import Random
from typing import Final

import detent
from detent import Policy, Retry
from detent.client import SyncClient
from tests.runtime.fleet.worker import Worker, until
from tests.store.processes.outcome import Outcome
from tests.store.processes.stores import all_jobs

WORKERS: Final = 4
THREADS: Final = 4
LAST_KILL: Final = 0.9  # of the jobs: work is left for whoever is killed last
LOOK_S: Final = 0.01
STANDSTILL_S_MAX: Final = 60.0
BATCH: Final = 1_000
POLICY: Final = Policy(lease_s=2.0, allow_unusual_lease=True, retry=Retry(max_attempts=1_000, base_s=0.01))


class Slaughter:
    """A few workers, each of which is replaced when it is killed, until all jobs are done."""

    def __init__(self, client: SyncClient, url: str, dice: Random) -> None:
        self._client = client
        self._url = url
        self._dice = dice
        self._workers: list[Worker] = []
        self._started = 0
        self.hits = 0  # kills of a worker that had jobs in its hands

    def run(self, jobs: int, kills: int) -> None:
        """The kills come at random points of the progress, so that there are as many however quick this machine is."""
        points = sorted(self._dice.randrange(round(LAST_KILL * jobs)) for _ in range(kills))
        try:
            for _ in range(WORKERS):
                self._start()
            for point in points:
                self._until_done(point)
                self._kill()
            self._until_done(jobs)
        finally:
            for worker in self._workers:
                worker.close()

    def _start(self) -> None:
        self._started += 1
        self._workers.append(Worker("apps:effects", self._url, f"w{self._started}", threads=THREADS))

    def _kill(self) -> None:
        """One that has jobs in its hands; unless it has ended them in the very moment between the look and the kill."""
        with self._workers.pop(self._dice.randrange(len(self._workers))) as worker:
            until(lambda: self._client.find(owner=worker.worker, limit=1).items, f"{worker.name} has nothing to do")
            worker.kill()
        self.hits += bool(self._client.find(owner=worker.worker, limit=1).items)
        self._start()

    def _until_done(self, count: int) -> None:
        last, moved_s = -1, time.monotonic()
        while (done := self._client.count(outcome="success").get((), 0)) < count:
            if done > last:
                last, moved_s = done, time.monotonic()
            assert time.monotonic() - moved_s < STANDSTILL_S_MAX, f"{done} of {count} jobs are done, and no more end"
            time.sleep(LOOK_S)


def run_effects(url: str, *, seed: int, jobs: int, kills: int) -> Outcome:
    outcome, began_s = Outcome(), time.monotonic()
    with detent.connect(url) as client:
        with client.transaction() as tx:
            tx.execute("drop table if exists effects")
            tx.execute("create table effects (job text, attempt integer)")
        for first in range(0, jobs, BATCH):
            numbers = range(first, min(first + BATCH, jobs))
            client.enqueue_many([{"kind": "insert", "job_id": f"job{n}", "policy": POLICY} for n in numbers])
        slaughter = Slaughter(client, url, Random(seed))
        slaughter.run(jobs, kills)
        attempts = _judge(outcome, client, jobs)
        outcome.expect_clean(client.verify())
    outcome.expect(attempts > jobs, "no kill interrupted anything")
    outcome.summary = (
        f"seed {seed}: {jobs} jobs on {WORKERS} workers, {kills} of which were killed and replaced, {slaughter.hits} "
        f"with jobs in their hands: {attempts} attempts and one row for each job; {time.monotonic() - began_s:.0f} s"
    )
    return outcome


def _judge(outcome: Outcome, client: SyncClient, jobs: int) -> int:
    """How many attempts there were, in all."""
    with client.transaction() as tx:
        rows = [(str(job), int(attempt)) for job, attempt in tx.execute("select job, attempt from effects")]
    ends = all_jobs(client)
    outcome.expect_equal("rows", len(rows), jobs)
    outcome.expect_equal(
        "jobs with more rows than one", [job for job, n in Counter(j for j, _ in rows).items() if n > 1], []
    )
    outcome.expect_equal("jobs by state", dict(Counter(job.state for job in ends)), {"succeeded": jobs})
    outcome.expect_equal(
        "attempts that left a row", sorted(rows), sorted((job.id, job.result["attempt"]) for job in ends)
    )
    outcome.expect_equal("failures", sum(job.failures for job in ends), 0)
    outcome.expect(all(job.attempt == job.crashes + 1 for job in ends), "attempts and crashes do not add up")
    return sum(job.attempt for job in ends)
