"""What is asked of a crowd, what it told, and whether that is right."""

from typing import Any, Final

from msgspec import Struct

from detent.client import SyncClient
from detent.surfaces.http.live import LiveSettings
from tests.store.processes.outcome import Outcome
from tests.store.processes.program import Line
from tests.store.processes.stores import all_events, all_jobs
from tests.store.processes.tailing import Seen, judge
from tests.surfaces.http.crowd.following import LAST
from tests.surfaces.http.crowd.manners import Pace

EVENTS_PER_JOB: Final = 4


class Size(Struct, frozen=True):
    """Of a campaign. `peak_mb_max` is the most memory that the service may ever have had."""

    jobs: int
    queues: int
    readers: int
    claimers: int
    processes: int  # of readers, and of claimers
    batch: int
    live: LiveSettings
    pace: Pace
    peak_mb_max: float
    wait_s: float

    @property
    def queue_names(self) -> list[str]:
        return [f"q{number}" for number in range(self.queues)]


class Told(Struct):
    """What everybody said at the end."""

    readers: list[Line]
    claimers: list[Line]
    start_mb: float
    peak_mb: float
    took_s: float
    complaints: str


def judge_jobs(outcome: Outcome, client: SyncClient, told: Told, size: Size) -> None:
    jobs = [job for job in all_jobs(client) if not job.id.startswith(LAST)]
    outcome.expect_clean(client.verify())
    outcome.expect_equal("jobs that succeeded at once", sum(_is_whole(job) for job in jobs), size.jobs)
    taken = [job_id for line in told.claimers for one in line["taken"] for job_id in one]
    outcome.expect_equal("jobs taken", (len(taken), set(taken)), (len(jobs), {job.id for job in jobs}))
    outcome.expect_equal("claimers that failed", [each for line in told.claimers for each in line["failed"]], [])


def _is_whole(job: Any) -> bool:
    return bool(job.outcome == "success" and job.attempt == 1 and job.rev == EVENTS_PER_JOB)


def judge_readers(outcome: Outcome, client: SyncClient, told: Told, size: Size) -> None:
    queues = {job.id: job.queue for job in all_jobs(client)}
    written: dict[str, Seen] = {queue: [] for queue in size.queue_names}
    for event in all_events(client):
        written[queues[event.job_id]].append((event.cursor or "", event.id, event.job_id, event.rev))
    outcome.expect_equal("readers", len(told.readers), size.readers)
    for number, line in enumerate(told.readers):
        who = f"reader {number} ({line['manner']}, {line['queue']})"
        judge(outcome, who, line["seen"], written[line["queue"]])
        outcome.expect_equal(f"{who}: events", len(line["seen"]), len(written[line["queue"]]))
        if line["manner"] == "slow":
            outcome.expect(line["cuts"] + line["breaks"] > 0, f"{who}: was never cut off")
