"""What ought to be on the bus is what the record says: a job that its pool has is published, an end that the pool has
not reported itself is announced, and what a pool is no longer to do is called off.

The record is the outbox. Whatever ought to be there is brought to the bus, again if it is not known to be there yet,
under a name by which the bus takes it once.
"""

import logging
from collections.abc import Iterable
from typing import Final

from detent.client import Client
from detent.errors import InvalidArgument, StoreError
from detent.kernel import Error, Job
from detent.kernel.command import Cancel, Command, Fail
from detent.store import JobQuery, Request
from detent.store.query import PAGE_MAX
from detent.surfaces.bus.link import Link
from detent.surfaces.bus.packets import Packet, message
from detent.surfaces.bus.reports import NUMBERS
from detent.surfaces.bus.requests import LIFECYCLE, request_of, topic_of
from detent.surfaces.bus.subjects import CANCEL, RESULT
from detent.wire.bounds import TEXT_CHARS_MAX

PAGES_MAX: Final = 1_000
BROUGHT_MAX: Final = 100_000  # that are remembered to have been brought
# Ends that are not for the pool to report. A pool that has the job is told to leave it.
ANNOUNCED: Final = ("CANCELLED", "DENIED", "TIMEOUT")
log: Final = logging.getLogger("detent.bus")


class Outbox:
    def __init__(self, client: Client, link: Link) -> None:
        self._client = client
        self._link = link
        self._brought: dict[str, None] = {}

    async def bring(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            if job.spec.lifecycle == LIFECYCLE and topic_of(job) in self._link.topics:
                try:
                    await self._bring(job)
                except (InvalidArgument, ValueError) as wrong:  # a number too large for the wire; too many bytes
                    await self._give_up(job, wrong)

    async def call_off_late(self, claimed: Iterable[Job]) -> None:
        """Those that were ended while they were being brought: what called them off may have come before them."""
        asked = [job.id for job in claimed]
        for job in await self._client.store.get(self._client.tenant, asked) if asked else []:
            if job is not None and job.state in ANNOUNCED and job.last_owner == topic_of(job):
                await self._put(CANCEL, job, self._cancel_of(job), "late cancel")

    async def bring_by_id(self, ids: Iterable[str]) -> None:
        asked = list(dict.fromkeys(ids))
        found = await self._client.store.get(self._client.tenant, asked) if asked else []
        await self.bring(job for job in found if job is not None)

    async def sweep(self, since: int) -> None:
        """All that pools have, and all that was ended since. Of what was claimed earlier it is known no more whether
        it was published: that has had its time, and is not run twice.
        """
        for query in self._queries(since):
            cursor: str | None = None
            for _ in range(PAGES_MAX):
                page = await self._client.store.find(query, PAGE_MAX, cursor)
                await self.bring(job for job in page if _since_of(job) >= since)
                cursor = page.cursor
                if cursor is None:
                    break

    def _queries(self, since: int) -> list[JobQuery]:
        tenant = self._client.tenant
        held = [JobQuery(tenant=tenant, lifecycle=LIFECYCLE, phase=phase) for phase in ("held", "active")]
        return held + [
            JobQuery(tenant=tenant, lifecycle=LIFECYCLE, state=state, ended_from=since) for state in ANNOUNCED
        ]

    async def _bring(self, job: Job) -> None:
        topic = topic_of(job)
        if job.cancel_by is not None and job.owner == topic:
            await self._call_off(job)
        elif job.phase == "held" and job.owner == topic:
            await self._put(
                topic, job, Packet(job.spec.correlation_id, self._name, "job_request", request_of(job)), "run"
            )
        elif job.state in ANNOUNCED:
            await self._put(RESULT, job, self._end_of(job), "end")
            if job.last_owner == topic:
                await self._put(CANCEL, job, self._cancel_of(job), "cancel")

    async def _call_off(self, job: Job) -> None:
        """Its workers know no grace: asked to stop, the pool has stopped."""
        command = Cancel(worker=topic_of(job), role="owner", attempt=job.attempt, actor=self._name, reason="asked for")
        await self._ask(job, command)

    async def _give_up(self, job: Job, wrong: Exception) -> None:
        """What cannot be told to its pool is not left to run out: it has failed, and its record says why."""
        log.warning("job %s cannot be brought to the bus: %s", job.id, wrong)
        if job.phase == "held" and job.owner == topic_of(job):
            error = Error("PermanentError", f"it cannot be published: {wrong}"[:TEXT_CHARS_MAX], code="not_publishable")
            await self._ask(
                job, Fail(worker=topic_of(job), role="owner", attempt=job.attempt, actor=self._name, error=error)
            )

    async def _ask(self, job: Job, command: Command) -> None:
        """Whoever was quicker has decided otherwise: then it is refused, and rightly so."""
        (answer,) = await self._client.store.apply([Request(job.spec.tenant, job.id, command)])
        if isinstance(answer, StoreError):
            raise answer

    def _end_of(self, job: Job) -> Packet:
        error = job.error
        told = message(
            "JobResult", job_id=job.id, status=NUMBERS[job.state], worker_id=self._name,
            error_code=None if error is None else error.code or error.type,
            error_message=None if error is None else error.message[:TEXT_CHARS_MAX],
        )  # fmt: skip
        return Packet(job.spec.correlation_id, self._name, "job_result", told)

    def _cancel_of(self, job: Job) -> Packet:
        told = message("JobCancel", job_id=job.id, reason=job.state, requested_by=self._name)
        told.dispatch.attempt = job.attempt
        return Packet(job.spec.correlation_id, self._name, "job_cancel", told)

    async def _put(self, subject: str, job: Job, packet: Packet, what: str) -> None:
        once = f"{job.spec.tenant}/{job.id}/{job.attempt}/{what}"
        if once in self._brought:
            return
        await self._link.put(subject, packet, once)
        self._brought[once] = None
        while len(self._brought) > BROUGHT_MAX:
            del self._brought[next(iter(self._brought))]

    @property
    def _name(self) -> str:
        return self._link.settings.name


def _since_of(job: Job) -> int:
    """When it came to be as it is now, or somewhat earlier."""
    return job.ended_at or job.claimed_at or job.created_at
