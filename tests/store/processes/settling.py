"""After the chaos: work off what is left, then hold the store against what its callers were told."""

import time
from collections.abc import Iterator
from typing import Final, NamedTuple

import detent
from detent.client import SyncClient
from detent.kernel.job import Job
from tests.store.processes.ledger import Ledger
from tests.store.processes.outcome import Outcome
from tests.store.processes.stores import all_stories
from tests.store.processes.transactions import effects

DRAIN_BATCH: Final = 500
DRAIN_S_MAX: Final = 20.0


class Settled(NamedTuple):
    """How many jobs there were, and how many of them were left to finish."""

    jobs: int
    left: int


def settle(outcome: Outcome, url: str, ledger: Ledger) -> Settled:
    with detent.connect(url) as client:
        left = drain(client)
        stories = all_stories(client)
        outcome.expect_clean(client.verify())
        outcome.expect(client.replay().is_same, "the log does not add up to the records")
    records = {story.job.id: story.job for story in stories}
    outcome.faults += [*ledger.failed(), *ledger.lost(records), *ledger.torn(records)]
    outcome.expect_clean(ledger.audited(stories))
    outcome.expect_equal("jobs that nobody could end", [job.id for job in records.values() if not job.is_ended], [])
    outcome.faults += _false_effects(url, records)
    return Settled(len(records), left)


def drain(client: SyncClient) -> int:
    """Work off what is left, as if nothing would go wrong any more. What cannot be is there for the audit to find."""
    done, deadline_s = 0, time.monotonic() + DRAIN_S_MAX
    while time.monotonic() < deadline_s and _is_live(client):
        client.reconcile(limit=DRAIN_BATCH)
        claimed = client.claim(worker="healer", limit=DRAIN_BATCH, start=True)
        client.complete_many({"job_id": job.id, "worker": "healer", "attempt": job.attempt} for job in claimed)
        done += len(claimed)
        time.sleep(0 if claimed else 0.05)  # the leases of the dead run out by themselves
    return done


def _is_live(client: SyncClient) -> bool:
    return any(client.find(phase=phase, limit=1).items for phase in ("ready", "held", "active"))


def _false_effects(url: str, records: dict[str, Job]) -> Iterator[str]:
    """Effects in the writers' own table without the completion that was to come with them."""
    for job_id, attempt in effects(url):
        job = records[job_id]
        if (job.state, job.attempt) != ("succeeded", attempt):
            yield f"the effect of job {job_id}, attempt {attempt}, is there; the job is '{job.state}'"
