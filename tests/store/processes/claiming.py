"""Many claimers over one store: every job is claimed, none twice, and a claim asked again gets the same jobs."""

import time
from collections import Counter

import detent
from detent.client import SyncClient
from tests.store.processes.gathering import gathered, let_go
from tests.store.processes.outcome import Outcome
from tests.store.processes.program import WAIT_S, Line

ASKED_AGAIN = 64  # claims that the parent, one process more, asks once again
BATCH = 5_000


def run_claimers(
    url: str, *, processes: int = 8, claimers: int = 8, jobs: int = 2_000, wait_s: float = WAIT_S
) -> Outcome:
    outcome = Outcome()
    with detent.connect(url) as client:
        for first in range(0, jobs, BATCH):
            numbers = range(first, min(first + BATCH, jobs))
            client.enqueue_many({"kind": f"kind{number % 3}", "payload": number} for number in numbers)
        given = [{"url": url, "name": f"p{number}", "claimers": claimers} for number in range(processes)]
        with gathered("claimer", given) as programs:
            began_s = time.monotonic()
            told = let_go(programs, wait_s, go=True)
            took_s = time.monotonic() - began_s
        _judge(outcome, client, told, jobs)
    share = " ".join(str(sum(len(each[3]) for each in line["taken"])) for line in told)
    claims = sum(len(line["taken"]) for line in told)
    outcome.summary = (
        f"{processes} processes x {claimers} claimers took {jobs} jobs in {claims} claims, each asked twice, "
        f"in {took_s:.1f} s; by process: {share}"
    )
    return outcome


def _judge(outcome: Outcome, client: SyncClient, told: list[Line], jobs: int) -> None:
    taken = [each for line in told for each in line["taken"]]
    claimed = Counter(job_id for *_, first, _ in taken for job_id in first)
    outcome.expect_equal("jobs claimed", len(claimed), jobs)
    outcome.expect_equal("jobs claimed twice", [job_id for job_id, times in claimed.items() if times > 1], [])
    for _, request_id, _, first, again in taken:
        outcome.expect_equal(f"repeat of claim {request_id}", again, first)
    for worker, request_id, limit, first, _ in taken[:: max(len(taken) // ASKED_AGAIN, 1)]:
        repeat = client.claim(worker=worker, limit=limit, request_id=request_id)
        outcome.expect_equal(f"repeat of {request_id} from elsewhere", [job.id for job in repeat], first)
    report = client.verify()
    outcome.expect_clean(report)
    outcome.expect_equal("jobs there", report.jobs, jobs)
    outcome.expect_equal("events, one for each enqueue and claim", report.events, 2 * jobs)
