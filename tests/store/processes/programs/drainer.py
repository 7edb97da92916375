"""A worker at full speed until its time is over: says when it had done how many jobs."""

import time

from msgspec import Struct

import detent
from tests.store.processes.programs.speaking import given, hear, tell


class Given(Struct):
    url: str
    name: str
    batch: int


asked = given(Given)
done: list[tuple[float, int]] = []
with detent.connect(asked.url) as client:
    tell(here=True)
    until_s = hear()["until_s"]
    while time.monotonic() < until_s:
        client.enqueue_many({"kind": "k"} for _ in range(asked.batch))
        claimed = client.claim(worker=asked.name, limit=asked.batch, start=True)
        client.complete_many({"job_id": job.id, "worker": asked.name, "attempt": job.attempt} for job in claimed)
        done.append((time.monotonic(), len(claimed)))
tell(done=done)
