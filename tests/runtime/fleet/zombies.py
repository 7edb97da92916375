"""Workers that stand still past their leases, by SIGSTOP, and then go on with jobs that others have.

Of each job three things are shown: its first handler is told LeaseLost; the result that it gives all the same is
refused; and that result is kept as a note. Half of them come back while the next attempt runs, half after its end.
"""

import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import detent
from detent import Policy, Retry
from detent.client import Note, SyncClient
from tests.runtime.fleet.figures import spread
from tests.runtime.fleet.worker import Worker, at_work, until
from tests.store.processes.outcome import Outcome
from tests.store.processes.program import WAIT_S

# What each worker has: as much on threads as on the event loop, and some in processes of their own, which go on while
# the worker stands still.
KINDS: Final = (
    "plinger",
    "plinger",
    "linger",
    "alinger",
    "linger",
    "alinger",
    "linger",
    "alinger",
    "linger",
    "alinger",
)
PER_WORKER: Final = len(KINDS)
POLICY: Final = Policy(lease_s=3.0, allow_unusual_lease=True, retry=Retry(base_s=0.01))
# What a first attempt is told, by whether the second has ended.
REFUSALS: Final = {False: "not_owner", True: "illegal_move"}


class Zombies:
    """`jobs` says of each whether its second attempt ends by itself; the others wait for a file."""

    def __init__(self, outcome: Outcome, client: SyncClient, url: str, *, workers: int) -> None:
        self._outcome = outcome
        self._client = client
        self._url = url
        self._names = [f"zombie{number}" for number in range(workers)]
        self.jobs = {f"job{number}": number // 2 % 2 == 0 for number in range(workers * PER_WORKER)}
        self.refused = Counter[str]()
        self.told_s: list[float] = []  # how long after it went on each worker's last handler was told

    def run(self, may_end: Path) -> None:
        slots = {
            "threads": KINDS.count("linger"),
            "concurrency": KINDS.count("alinger"),
            "children": KINDS.count("plinger"),
        }
        with at_work(self._client, "apps:undead", self._url, self._names, **slots) as named:
            zombies = list(named.values())
            self._enqueue(may_end)
            self._expect("first attempts that began", 1, [zombie.hear()["began"] for zombie in self._each(zombies)])
            with self._heir() as heir:
                for zombie in zombies:
                    zombie.pause()
                self._expect("second attempts that began", 2, [heir.hear()["began"] for _ in self.jobs])
                until(self._are_ended, "second attempts did not end")
                told = [fence for zombie in zombies for fence in self._told(zombie)]
                self._expect("handlers that were told LeaseLost", 1, told)
                until(self._are_noted, "late results were not noted")
                may_end.touch()
                for job_id in self.jobs:
                    self._judge(job_id)
            until(lambda: _late(zombies) == len(self.jobs), "workers were not told that results came too late")

    def _each(self, zombies: list[Worker]) -> Iterator[Worker]:
        """As often as it has jobs."""
        return (zombie for zombie in zombies for _ in range(PER_WORKER))

    def _expect(self, what: str, attempt: int, fences: list[list[object]]) -> None:
        self._outcome.expect_equal(what, sorted(fences), sorted([job_id, attempt] for job_id in self.jobs))

    def _enqueue(self, may_end: Path) -> None:
        def item(number: int, job_id: str) -> dict[str, object]:
            payload = {"until": "" if self.jobs[job_id] else str(may_end)}
            return {"kind": KINDS[number % PER_WORKER], "payload": payload, "job_id": job_id, "policy": POLICY}

        self._client.enqueue_many([item(number, job_id) for number, job_id in enumerate(self.jobs)])

    def _heir(self) -> Worker:
        many, in_processes = len(self.jobs), len(self.jobs) // PER_WORKER * KINDS.count("plinger")
        return Worker("apps:undead", self._url, "heir", threads=many, concurrency=many, children=in_processes)

    def _told(self, zombie: Worker) -> list[list[object]]:
        resumed_s = time.monotonic()
        zombie.resume()
        told = [zombie.hear()["lost"] for _ in range(PER_WORKER)]
        self.told_s.append(time.monotonic() - resumed_s)
        return told

    def _are_ended(self) -> bool:
        return all(self._client.get(job_id).is_ended for job_id, ends in self.jobs.items() if ends)

    def _are_noted(self) -> bool:
        return all(self._client.notes(job_id) for job_id in self.jobs)

    def _judge(self, job_id: str) -> None:
        job = self._client.wait(job_id, timeout_s=WAIT_S)
        counted = (job.state, job.attempt, job.crashes, job.failures, job.result)
        self._outcome.expect_equal(f"job {job_id}", counted, ("succeeded", 2, 1, 0, "attempt 2"))
        notes = [_told_in(note) for note in self._client.notes(job_id)]
        self.refused.update(code for _, _, code in notes)
        wanted = ("late_result", 1, REFUSALS[self.jobs[job_id]])
        self._outcome.expect_equal(f"notes of job {job_id}", notes, [wanted])


def _late(zombies: list[Worker]) -> int:
    """So many results, as the workers have logged it, came too late."""
    return sum(" came too late (" in line for zombie in zombies for _, line in zombie.logged())


def _told_in(note: Note) -> tuple[str, int, str]:
    return note.kind, note.payload["attempt"], note.payload["refused"]


def run_zombies(url: str, *, workers: int) -> Outcome:
    outcome = Outcome()
    with detent.connect(url) as client, tempfile.TemporaryDirectory(prefix="detent-zombies-") as folder:
        zombies = Zombies(outcome, client, url, workers=workers)
        zombies.run(Path(folder) / "may end")
        outcome.expect_clean(client.verify())
    outcome.summary = (
        f"{workers} workers paused past their leases with {PER_WORKER} jobs each: {zombies.refused.total()} late "
        f"results refused ({_listed(zombies.refused)}) and noted, their handlers told LeaseLost; from the moment a "
        f"worker went on until its last one was told: {spread(zombies.told_s)}"
    )
    return outcome


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
