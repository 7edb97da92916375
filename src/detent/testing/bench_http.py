"""What a service costs beside its store: full lives in batches, asked over HTTP and of a store directly, in turn.

Over HTTP asks a program that has nothing but a client for HTTP, so that the service is measured, and not Detent's own
client of it.
"""

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any, Final, Self

import msgspec
import urllib3

from detent.client import SyncClient
from detent.testing.bench import BATCHES_MAX, JOBS, PAIRS, Comparison
from detent.testing.raw import KIND, WORKER

TIMEOUT_S: Final = 60.0


class Caller:
    """Of a service: one connection, batches in JSON."""

    def __init__(self, address: str, token: str) -> None:
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        self._pool = urllib3.connection_from_url(address, headers=headers, timeout=TIMEOUT_S, retries=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    def batch(self, requests: list[dict[str, Any]]) -> None:
        answers = self._post("/v1/batch", {"requests": requests})["answers"]
        assert all("job" in answer for answer in answers), "what is right is not refused"

    def claim(self, limit: int) -> list[dict[str, Any]]:
        asked = {"worker": WORKER, "kinds": [KIND], "limit": limit, "start": True}
        jobs: list[dict[str, Any]] = self._post("/v1/claims", asked)["jobs"]
        return jobs

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        response = self._pool.request("POST", path, body=msgspec.json.encode(body))
        assert response.status == 200, response.data[:1_000].decode(errors="replace")
        answered: dict[str, Any] = msgspec.json.decode(response.data)
        return answered


def compare_http(
    client: SyncClient,
    caller: Caller,
    batch: int,
    *,
    pairs: int = PAIRS,
    on_pair: Callable[[], object] = lambda: None,
) -> Comparison:
    """Full lives a second over HTTP, beside those of a client of a store of its own."""
    taken = []
    for _ in range(pairs + 1):
        taken.append((_each(lambda: live_over_http(caller, batch), batch), _each(lambda: live(client, batch), batch)))
        on_pair()
    measured = taken[1:]  # the first pair warms up
    return Comparison(
        what=f"full life, {batch} at a time",
        per_s=round(1 / median(theirs for theirs, _ in measured)),
        beside="the store",
        beside_per_s=round(1 / median(ours for _, ours in measured)),
        ratio=round(median(ours / theirs for theirs, ours in measured), 3),
    )


def live(client: SyncClient, batch: int) -> None:
    client.enqueue_many([{"kind": KIND, "payload": {}} for _ in range(batch)])
    jobs = client.claim(worker=WORKER, kinds=[KIND], limit=batch, start=True)
    client.complete_many([{"job_id": job.id, "worker": WORKER, "attempt": job.attempt} for job in jobs])


def live_over_http(caller: Caller, batch: int) -> None:
    caller.batch([{"verb": "enqueue", "kind": KIND, "payload": {}} for _ in range(batch)])
    jobs = caller.claim(batch)
    caller.batch(
        [{"verb": "complete", "job_id": job["id"], "worker": WORKER, "attempt": job["attempt"]} for job in jobs]
    )


def _each(live: Callable[[], None], batch: int) -> float:
    """Seconds per job: the mean of one measurement."""
    times = max(1, min(BATCHES_MAX, JOBS // batch))
    began = perf_counter()
    for _ in range(times):
        live()
    return (perf_counter() - began) / (times * batch)
