"""A load over all five lifecycles, from several processes: it ends, and everybody counts the same moves."""

import time
from collections import Counter

import detent
from detent.client import SyncClient
from tests.store.processes.gathering import gathered, let_go
from tests.store.processes.outcome import Outcome
from tests.store.processes.program import Line
from tests.store.processes.stores import all_events, all_jobs, by_state

LIFECYCLES = 5
# Each of these must have happened in a load worth its name: by event verb.
VERBS = frozenset({
    "enqueue", "submit", "schedule", "approve", "deny", "claim", "start", "renew", "complete", "fail", "retry",
    "release", "stall", "requeue", "expire", "time_out", "request_cancel", "cancel", "dead_letter",
})  # fmt: skip


def run_load(url: str, *, seed: int, processes: int = 3, jobs: int = 1_000, wait_s: float = 90) -> Outcome:
    outcome = Outcome()
    share = jobs // LIFECYCLES // processes
    shares = [share] * (processes - 1) + [jobs // LIFECYCLES - share * (processes - 1)]
    began_s = time.monotonic()
    given = [
        {"url": url, "name": f"load{number}", "seed": seed + number, "share": shares[number], "wait_s": wait_s}
        for number in range(processes)
    ]
    with gathered("loader", given) as programs:
        told = let_go(programs, wait_s + 30, go=True)
    took_s = time.monotonic() - began_s
    with detent.connect(url) as client:
        _judge(outcome, client, told, jobs)
        listed, events = all_jobs(client), len(all_events(client))
    mutations, refused = sum(line["mutations"] for line in told), _sum(told, "refused")
    outcome.summary = (
        f"seed {seed}: {jobs} jobs over {LIFECYCLES} lifecycles, {processes} processes, {took_s:.1f} s: "
        f"{mutations} mutations, {events} events, {sum(job.rev for job in listed)} revs; refused {dict(refused)}\n"
        f"    {by_state(listed)}"
    )
    return outcome


def _judge(outcome: Outcome, client: SyncClient, told: list[Line], jobs: int) -> None:
    report, listed = client.verify(), all_jobs(client)
    outcome.expect_clean(report)
    outcome.expect_equal("jobs", (report.jobs, len(listed)), (jobs, jobs))
    outcome.expect_equal("jobs that never ended", [job.id for job in listed if not job.is_ended], [])
    counted = sum(line["mutations"] for line in told)
    outcome.expect_equal("events in the log", report.events, counted)
    outcome.expect_equal("sum of revs", sum(job.rev for job in listed), counted)
    outcome.expect(client.replay().is_same, "the log does not add up to the records")
    outcome.expect_equal("verbs that never happened", VERBS - {event.verb for event in all_events(client)}, set())


def _sum(told: list[Line], name: str) -> Counter[str]:
    total: Counter[str] = Counter()
    for line in told:
        total.update(line[name])
    return total
