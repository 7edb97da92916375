"""Workers that stand still past their leases, by SIGSTOP, and report a result when they go on: each is refused."""

import time
from collections import Counter
from typing import Final

import detent
from detent.client import Job, SyncClient
from tests.store.processes.gathering import gathered
from tests.store.processes.outcome import Outcome
from tests.store.processes.program import Program

LEASE_S: Final = 0.4
WAIT_S: Final = 20.0
# What became of the job while its first owner stood still, and what that owner is told when it reports its result.
# In this order: each brings about the next.
MEANWHILE: Final = {
    "its lease ran out": "lease_expired",
    "it was queued again": "illegal_move",
    "another claimed it": "not_owner",
    "another finished it": "illegal_move",
}
SECOND: Final = {"by": "second"}
AT_ONCE: Final = detent.Policy(retry=detent.Retry(base_s=0))


class Paused:
    """A worker that stands still, and its job."""

    def __init__(self, program: Program, queue: str, job_id: str, meanwhile: str) -> None:
        self.program = program
        self.queue = queue
        self.job_id = job_id
        self.meanwhile = meanwhile


def run_pauses(url: str, *, owners: int, rounds: int = 1) -> Outcome:
    outcome, refused = Outcome(), Counter[str]()
    given = [{"url": url, "worker": f"w{n}", "lease_s": LEASE_S, "rounds": rounds} for n in range(owners)]
    began_s = time.monotonic()
    with detent.connect(url) as client:
        with gathered("owner", given) as programs:
            for number in range(rounds):
                for paused in _pause(client, programs, number):
                    refused[_told(outcome, client, paused)] += 1
        report = client.verify()
    took_s = time.monotonic() - began_s
    outcome.expect_clean(report)
    outcome.expect_equal("jobs", report.jobs, owners * rounds)
    outcome.expect_equal("refusals", sum(refused[code] for code in set(MEANWHILE.values())), owners * rounds)
    outcome.summary = (
        f"{owners} workers paused {rounds} times each past their lease: {sum(refused.values())} late results, "
        f"{dict(refused)}, in {took_s:.1f} s"
    )
    return outcome


def _pause(client: SyncClient, programs: list[Program], number: int) -> list[Paused]:
    """All at once; in the order in which they are to go on."""
    ways = list(MEANWHILE)
    stopped = []
    for place, program in enumerate(programs):
        queue = f"queue{number}.{place}"
        client.enqueue("k", queue=queue, policy=AT_ONCE)
        program.say(queues=[queue])
        stopped.append(Paused(program, queue, program.hear()["job_id"], ways[(place + number) % len(ways)]))
    for paused in stopped:
        paused.program.pause()
    time.sleep(1.5 * LEASE_S)
    return sorted(stopped, key=lambda paused: ways.index(paused.meanwhile))


def _told(outcome: Outcome, client: SyncClient, paused: Paused) -> str:
    """What the owner is told once it goes on: that, and a note of what it said, is all that comes of it."""
    let_happen(client, paused)
    before = client.get(paused.job_id)
    paused.program.resume()
    paused.program.say(go=True)
    told = paused.program.hear()
    wanted = MEANWHILE[paused.meanwhile]
    outcome.expect_equal(f"a worker was told, when {paused.meanwhile}", told, {"refused": wanted})
    outcome.expect(client.get(paused.job_id) == before, f"job {paused.job_id} was changed by a late result")
    notes = [(note.kind, note.payload["refused"]) for note in client.notes(paused.job_id)]
    outcome.expect_equal(f"notes of job {paused.job_id}", notes, [("late_result", wanted)])
    if paused.meanwhile == "another claimed it":
        finish(client, before)
        job = client.get(paused.job_id)
        outcome.expect_equal("the second attempt", (job.state, job.attempt, job.result), ("succeeded", 2, SECOND))
    return str(told.get("refused"))


def let_happen(client: SyncClient, paused: Paused) -> None:
    """Everything up to what is to have happened, in its order."""
    if paused.meanwhile == "its lease ran out":
        return
    reconcile_until_queued(client, paused.job_id)
    if paused.meanwhile == "it was queued again":
        return
    (job,) = client.claim(worker="second", queues=[paused.queue], start=True)
    if paused.meanwhile == "another finished it":
        finish(client, job)


def reconcile_until_queued(client: SyncClient, job_id: str) -> None:
    deadline_s = time.monotonic() + WAIT_S
    while client.get(job_id).phase != "ready" or client.get(job_id).owner is not None:
        assert time.monotonic() < deadline_s, "the lease never ran out"
        client.reconcile()
        time.sleep(0.01)


def finish(client: SyncClient, job: Job) -> None:
    client.complete(job.id, worker="second", attempt=job.attempt, result=SECOND)
