"""What people and other programs do to jobs on a failure path: on the command line, or by a verb of the client."""

import json
from typing import Final

from detent import Job
from detent.client import SyncClient
from tests.paths.path import Deed
from tests.surfaces.running import detent

ELSEWHERE: Final = "elsewhere"
CLAIM_MAX: Final = 100


def do(deed: Deed, job: Job, client: SyncClient, url: str) -> None:
    if deed.by == "cli":
        _command(deed, job, url)
    elif deed.by == "elsewhere":
        _verb(client, deed, job, {"worker": ELSEWHERE, "attempt": job.attempt, "expected_rev": job.rev})
    else:
        _verb(client, deed, job, {"role": deed.by, "actor": "ann", "expected_rev": job.rev})


def claim_elsewhere(client: SyncClient) -> None:
    """Another runtime takes the jobs that are for it. What waits for a policy is let through by hand."""
    for job in client.find(queue=ELSEWHERE, state="PENDING"):
        client.schedule(job.id, verdict="allow", rule="by hand", role="scheduler")
    client.claim(worker=ELSEWHERE, queues=[ELSEWHERE], limit=CLAIM_MAX)


def _command(deed: Deed, job: Job, url: str) -> None:
    result = detent(*deed.words, job.id, "--url", url, "--json")
    code = json.loads(result.stderr)["error"]["code"] if result.exit_code else None
    assert code == deed.refused, result.output


def _verb(client: SyncClient, deed: Deed, job: Job, who: dict[str, object]) -> None:
    (verb,) = deed.words
    getattr(client, verb)(job.id, **who, **deed.given)
