"""A worker that claims one job, starts it, and reports its result when it is told to. A test pauses it in between.

As often as it is told to; each time from a queue of its own.
"""

from msgspec import Struct

import detent
from tests.store.processes.programs.speaking import given, hear, tell


class Given(Struct):
    url: str
    worker: str
    lease_s: float
    rounds: int = 1


asked = given(Given)
with detent.connect(asked.url) as client:
    tell(here=True)
    for _ in range(asked.rounds):
        (queue,) = hear()["queues"]
        (job,) = client.claim(
            worker=asked.worker, queues=[queue], lease_s=asked.lease_s, allow_unusual_lease=True, start=True
        )
        tell(job_id=job.id, attempt=job.attempt)
        hear()
        try:
            done = client.complete(job.id, worker=asked.worker, attempt=job.attempt, result={"by": asked.worker})
            tell(answer=done.answer, state=done.state)
        except detent.Refused as refused:
            tell(refused=refused.code)
