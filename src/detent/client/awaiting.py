"""Waiting for a job's end, wherever it runs. Nothing is asked of the job: this only looks."""

from typing import Final

from detent.client.arguments import check_text_name
from detent.client.reads import Reads
from detent.client.views import Job
from detent.errors import WaitTimedOut
from detent.lifecycle.bounds import check_at_least
from detent.store.waiting import now_s

LOOK_S: Final = 30.0  # a store tells when its log grows; this is how long it is asked at a time


class Awaiting(Reads):
    async def wait(self, job_id: str, *, timeout_s: float | None = None) -> Job:
        """The job once it has ended, however it did. After `timeout_s`: `WaitTimedOut`, which is a TimeoutError too."""
        check_text_name("job_id", job_id)
        if timeout_s is not None:
            check_at_least("timeout_s", timeout_s, 0)
        deadline_s = None if timeout_s is None else now_s() + timeout_s
        while True:
            cursor = await self.store.wait(None, 0)  # before the look, so that nothing comes between the two
            job = await self.get(job_id)
            if job.is_ended:
                return job
            left_s = LOOK_S if deadline_s is None else deadline_s - now_s()
            if left_s <= 0:
                raise WaitTimedOut(job_id, job.state, timeout_s or 0)
            await self.store.wait(cursor, min(left_s, LOOK_S))
