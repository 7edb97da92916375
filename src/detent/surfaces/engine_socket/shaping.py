"""Jobs and refusals in the words of engines."""

from typing import Final

from msgspec import structs

from detent.client import Client
from detent.errors import DetentError, Refused
from detent.kernel import Job
from detent.store.query import EventQuery
from detent.wire.engine import EngineJob, job_of, status_name
from detent.wire.engine_messages import Granted, Lost, Refusal, Stop
from detent.wire.http.jobs import opened_of
from detent.wire.moments import if_set, to_millis
from detent.wire.shape import error_text

# Ids of requests are made for engines, who know nothing of them: the end of an attempt is reported once.
_REPORTED: Final = "this attempt was reported to have ended otherwise; what was reported first stands"


class Shaping:
    """`legacy`: states under the names that they used to have."""

    def __init__(self, *, legacy: bool) -> None:
        self._legacy = legacy

    async def job(self, client: Client, job: Job) -> EngineJob:
        """Its payload as JSON: an engine could not open what a client has compressed."""
        lifecycle = await client.lifecycle(job.spec.lifecycle, job.spec.lifecycle_version)
        opened = structs.replace(job.spec, payload=opened_of(job.spec.payload))
        return job_of(lifecycle, structs.replace(job, spec=opened), legacy=self._legacy)

    async def granted(self, client: Client, job: Job) -> Granted:
        return Granted(
            job=await self.job(client, job), attempt=job.attempt, heartbeat_s=job.spec.policy.heartbeat_s,
            lease_expires_at=if_set(to_millis, job.lease_expires_at), is_cancelled=job.cancel_by is not None,
        )  # fmt: skip

    async def lost(self, client: Client, job_id: str, attempt: int | None, job: Job | None) -> Lost:
        if job is None:
            return Lost(job_id=job_id, attempt=attempt, status=None, error=None)
        lifecycle = await client.lifecycle(job.spec.lifecycle, job.spec.lifecycle_version)
        status = status_name(lifecycle, job.state, legacy=self._legacy)
        error = None if job.error is None else error_text(job.error)
        return Lost(job_id=job_id, attempt=attempt, status=status, error=error)

    async def stop(self, client: Client, job: Job) -> Stop:
        """For the reason that is on the record."""
        query = EventQuery(tenant=job.spec.tenant, job_id=job.id, verb="request_cancel")
        asked = [entry.event.cause for entry in await client.store.recent(query, 1)]
        reason = asked[0] if asked else None
        return Stop(job_id=job.id, attempt=job.attempt, reason=reason, until=if_set(to_millis, job.cancel_by))


def refusal_of(error: DetentError) -> Refusal:
    if not isinstance(error, Refused):
        return Refusal(code=error.code, detail=str(error))
    detail = _REPORTED if error.code == "request_conflict" else str(error)
    return Refusal(code=error.code, detail=detail, job_id=error.job_id, status=error.state, allowed=list(error.allowed))
