"""Rolling restarts under load: each worker in turn is told to stop, ends well, and is started again.

The jobs have a single attempt: whatever was counted as a failure would be their end. Some are short, and finish while
their worker drains; others take longer than its grace, and are given back.
"""

from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime
from random import Random
from typing import Final

import detent
from detent import Retry
from detent.client import Job, SyncClient
from detent.lifecycles import BUILT_IN
from tests.runtime.fleet.worker import Worker, until, until_reported
from tests.store.processes.outcome import Outcome
from tests.store.processes.program import WAIT_S
from tests.store.processes.stores import all_events, all_jobs

LIFECYCLES: Final = ("standard", "contract", "document")
SLOTS: Final = 15
SHORT_S: Final = (0.02, 0.5)
LONG_S: Final = 3.0
LONG_SHARE: Final = 0.25
GRACE_S: Final = 0.3
TOO_LONG_S: Final = 1.6  # for a handler to finish while its worker drains, its last word included
BACKLOG: Final = 30  # jobs that wait when a worker is told to stop
COUNTED: Final = frozenset({"fail", "retry", "expire", "time_out", "dead_letter"})  # verbs that count against a job


class Fleet:
    """Workers on a load that does not end before the restarts do."""

    def __init__(self, outcome: Outcome, client: SyncClient, url: str, dice: Random) -> None:
        self._outcome = outcome
        self._client = client
        self._url = url
        self._dice = dice
        self.made = 0
        self.restarts = 0

    def roll(self, workers: int, rounds: int) -> None:
        with ExitStack() as stack:
            fleet = [stack.enter_context(self._started(f"w{number}")) for number in range(workers)]
            for _ in range(rounds):
                for place, worker in enumerate(fleet):
                    self._stop(worker)
                    fleet[place] = stack.enter_context(self._started(worker.worker))
            until(self._is_done, "jobs were left", WAIT_S)
            for worker in fleet:  # drains idle now
                self._outcome.expect_equal(f"exit code of worker {worker.worker}", worker.terminate(), 0)

    def _started(self, name: str) -> Worker:
        return Worker("apps:rolling", self._url, name, concurrency=SLOTS, grace=f"{GRACE_S}s")

    def _load(self) -> None:
        """So that work waits, however much the workers have done."""
        waiting = sum(count for (phase,), count in self._phases().items() if phase in ("ready", "parked"))
        items = [self._item(number) for number in range(self.made, self.made + max(BACKLOG - waiting, 0))]
        self.made += len(items)
        self._client.enqueue_many(items)

    def _item(self, number: int) -> dict[str, object]:
        lifecycle = LIFECYCLES[number % len(LIFECYCLES)]
        policy = BUILT_IN[lifecycle].policy(retry=Retry(max_attempts=1, base_s=0.01))
        for_s = LONG_S if self._dice.random() < LONG_SHARE else self._dice.uniform(*SHORT_S)
        given = {"kind": f"nap_{lifecycle}", "payload": {"for_s": for_s}, "lifecycle": lifecycle}
        return {**given, "policy": policy, "submit": True}

    def _stop(self, worker: Worker) -> None:
        """In the midst of jobs of every lifecycle that it cannot finish."""
        until_reported(self._client, worker)
        until(lambda: self._has_its_hands_full(worker), f"worker {worker.worker} has not enough to do")
        self._outcome.expect_equal(f"exit code of worker {worker.worker}", worker.terminate(), 0)
        left = [job.id for job in self._client.find(owner=worker.worker).items]
        self._outcome.expect_equal(f"jobs that worker {worker.worker} kept when it ended", left, [])
        self.restarts += 1

    def _has_its_hands_full(self, worker: Worker) -> bool:
        self._load()
        jobs = self._client.find(owner=worker.worker).items
        return {job.lifecycle for job in jobs if _left_s(job) > TOO_LONG_S} == set(LIFECYCLES)

    def _phases(self) -> dict[tuple[str | None, ...], int]:
        return dict(self._client.count(by=["phase"]))

    def _is_done(self) -> bool:
        return all(phase == "ended" for (phase,) in self._phases())


def _left_s(job: Job) -> float:
    assert job.claimed_at is not None, "a job that has an owner was claimed"
    return float(job.payload["for_s"]) - (datetime.now(UTC) - job.claimed_at).total_seconds()


def run_rolling(url: str, *, seed: int, workers: int, rounds: int) -> Outcome:
    outcome = Outcome()
    with detent.connect(url) as client:
        fleet = Fleet(outcome, client, url, Random(seed))
        fleet.roll(workers, rounds)
        jobs = all_jobs(client)
        counted = Counter(event.verb for event in all_events(client) if event.verb in COUNTED)
        outcome.expect_clean(client.verify())
    outcome.expect_equal("jobs", len(jobs), fleet.made)
    outcome.expect_equal("moves that count against a job", dict(counted), {})
    for job in jobs:
        _judge(outcome, job)
    given_back = Counter[str]()
    for job in jobs:
        given_back[job.lifecycle] += job.interruptions
    outcome.expect(set(+given_back) == set(LIFECYCLES), f"given back, by lifecycle: {dict(given_back)}")
    outcome.summary = (
        f"seed {seed}: {rounds} rolling restarts of {workers} workers, {fleet.restarts} ends with exit code 0; "
        f"{len(jobs)} jobs, none failed; given back: {_listed(given_back)}"
    )
    return outcome


def _judge(outcome: Outcome, job: Job) -> None:
    counted = (job.outcome, job.failures, job.crashes, job.retries, job.attempt)
    outcome.expect_equal(f"job {job.id}", counted, ("success", 0, 0, 0, 1 + job.interruptions))


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {counts[name]}" for name in LIFECYCLES)
