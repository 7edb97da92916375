"""Handlers that let nobody else have their turn for three leases: where that is harmless, and who is told of it."""

from typing import Final

import detent
from detent import Policy
from detent.client import Job, SyncClient
from tests.runtime.fleet.worker import Worker, until_reported
from tests.store.processes.outcome import Outcome

LEASES: Final = 3
WAIT_S: Final = 60.0
KINDS: Final = ("keep_a_thread", "keep_a_process", "keep_the_loop")


def run_blocked(url: str, *, lease_s: float) -> Outcome:
    """The loop is that of a worker of its own, so that only its own handler can be the one that is named."""
    outcome = Outcome()
    policy = Policy(lease_s=lease_s, allow_unusual_lease=True)
    with (
        detent.connect(url) as client,
        Worker("apps:blocked", url, "quiet", children=1) as quiet,
        Worker("apps:blocking", url, "loud") as loud,
    ):
        for worker in (quiet, loud):
            until_reported(client, worker)
        made = [client.enqueue(kind, {"for_s": LEASES * lease_s}, policy=policy) for kind in KINDS]
        for job in made:
            _judge(outcome, client, client.wait(job.id, timeout_s=LEASES * lease_s + WAIT_S))
        said = _standstills(loud)
        outcome.expect_equal("reports of a thread and a process that are at work", _standstills(quiet), [])
        outcome.expect_clean(client.verify())
    named = f" in keep_the_loop (job {made[-1].id}); "
    outcome.expect(len(said) > 0 and all(named in line for line in said), f"of the loop it was said: {said}")
    outcome.summary = (
        f"handlers that kept a thread, a process and the event loop for {LEASES} leases of {lease_s:g} s: no lease was "
        f"lost; of the loop it was said: {'; '.join(said)}"
    )
    return outcome


def _judge(outcome: Outcome, client: SyncClient, job: Job) -> None:
    counted = (job.state, job.attempt, job.crashes, job.failures, job.result)
    outcome.expect_equal(job.kind, counted, ("succeeded", 1, 0, 0, "free"))
    renewals = sum(event.verb == "renew" for event in client.history(job.id))
    outcome.expect(renewals >= LEASES, f"{job.kind}: its lease was renewed {renewals} times only")


def _standstills(worker: Worker) -> list[str]:
    return [line for _, line in worker.logged() if line.startswith("stood still")]
