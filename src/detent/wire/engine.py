"""`engine` on the wire: the job object, and old names beside new ones while clients migrate."""

from typing import Any

from detent.errors import InvalidArgument
from detent.kernel import Job
from detent.lifecycle import Lifecycle, State
from detent.wire.moments import if_set, to_millis
from detent.wire.shape import CamelShape, error_text, json_value


class EngineJob(CamelShape, frozen=True):
    """Moments in epoch milliseconds. `completedAt` is when it ended, well or not."""

    job_id: str
    user_id: str | None
    job_type: str
    payload: Any
    status: str
    submitted_at: int
    queued_at: int
    dispatched_at: int | None
    started_at: int | None
    completed_at: int | None
    error: str | None
    retry_count: int
    engine_id: str | None


def job_of(lifecycle: Lifecycle, job: Job, *, legacy: bool = False) -> EngineJob:
    submitted_at = to_millis(job.created_at)
    return EngineJob(
        job_id=job.id,
        user_id=user_of(job),
        job_type=job.spec.kind,
        payload=json_value(job.id, job.spec.payload),
        status=status_name(lifecycle, job.state, legacy=legacy),
        submitted_at=submitted_at,
        queued_at=submitted_at,  # a submitted job is queued in the same move
        dispatched_at=if_set(to_millis, job.claimed_at),
        started_at=if_set(to_millis, job.started_at),
        completed_at=if_set(to_millis, job.ended_at),
        error=None if job.error is None else error_text(job.error),
        retry_count=job.retries,
        engine_id=engine_of(job),
    )


def user_of(job: Job) -> str | None:
    return job.spec.env.get("user_id")


def engine_of(job: Job) -> str | None:
    """The engine that has the job, or that had it last."""
    return job.owner or job.last_owner


def status_name(lifecycle: Lifecycle, state: str, *, legacy: bool = False) -> str:
    """The state's name, or with `legacy` the one it used to have. A state that is new has no other name."""
    if not legacy:
        return state
    return next((old for old, new in lifecycle.aliases.items() if new == state), state)


def state_named(lifecycle: Lifecycle, status: str) -> State:
    """The state that a client means, by its name or by a name it used to have."""
    try:
        return lifecycle.state(status)
    except KeyError:
        known = ", ".join((*lifecycle.by_name, *lifecycle.aliases))
        raise InvalidArgument(
            f"{status[:64]!r} is no status of '{lifecycle.name}'; use {known}", code="unknown_status"
        ) from None
