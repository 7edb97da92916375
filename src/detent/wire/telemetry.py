"""What `engine` tells the world of a job's life, from its events and its progress notes."""

from collections.abc import Callable
from typing import Final, NamedTuple

from detent.kernel import Event, Job, Note
from detent.lifecycle import Lifecycle
from detent.wire.engine import engine_of, user_of
from detent.wire.moments import to_millis
from detent.wire.shape import CamelShape, error_text

PERCENT: Final = 100


class JobQueued(CamelShape, frozen=True):
    job_id: str
    job_type: str
    user_id: str | None
    queued_at: int


class JobDispatched(CamelShape, frozen=True):
    job_id: str
    engine_id: str | None
    dispatched_at: int


class JobRunning(CamelShape, frozen=True):
    job_id: str
    engine_id: str | None
    started_at: int


class JobCompleted(CamelShape, frozen=True):
    """`duration`: for how long it ran, in milliseconds."""

    job_id: str
    engine_id: str | None
    completed_at: int
    duration: int


class JobFailed(CamelShape, frozen=True):
    """`engineId` is null, and `duration` 0, for a job that no engine took or ran."""

    job_id: str
    engine_id: str | None
    failed_at: int
    error: str
    duration: int
    category: str


class JobProgress(CamelShape, frozen=True):
    job_id: str
    progress: int


Data = JobQueued | JobDispatched | JobRunning | JobCompleted | JobFailed | JobProgress


class Telemetry(NamedTuple):
    name: str
    data: Data


def telemetry_of(lifecycle: Lifecycle, said: Event | Note, job: Job, *, legacy: bool = False) -> tuple[Telemetry, ...]:
    """What to emit for an event or note of a job, given its record as of then or later. Nothing for a mere renewal.

    With `legacy`, what used to have another name is emitted under both.
    """
    told = _told(said, job)
    if told is None:
        return ()
    old = lifecycle.legacy_events.get(told.name) if legacy else None
    return (told,) if old is None else (told, Telemetry(old, told.data))


def _told(said: Event | Note, job: Job) -> Telemetry | None:
    if "fraction" in (said.payload or {}):  # a progress note, or a heartbeat that brings progress along
        return Telemetry("JOB_PROGRESS", _progress(said))
    describe = _DATA.get(said.type)
    if describe is None or isinstance(said, Note):
        return None
    return Telemetry(said.type, describe(said, job))


def _queued(event: Event, job: Job) -> JobQueued:
    return JobQueued(job_id=job.id, job_type=job.spec.kind, user_id=user_of(job), queued_at=to_millis(event.at))


def _dispatched(event: Event, job: Job) -> JobDispatched:
    return JobDispatched(job_id=job.id, engine_id=_engine(event, job), dispatched_at=to_millis(event.at))


def _running(event: Event, job: Job) -> JobRunning:
    return JobRunning(job_id=job.id, engine_id=_engine(event, job), started_at=to_millis(event.at))


def _completed(event: Event, job: Job) -> JobCompleted:
    return JobCompleted(
        job_id=job.id, engine_id=_engine(event, job), completed_at=to_millis(event.at), duration=_duration(event, job)
    )


def _failed(event: Event, job: Job) -> JobFailed:
    error = job.error
    assert error is not None, "a failed job has an error"
    assert error.category is not None, "a failure that ended a job has a category"
    return JobFailed(
        job_id=job.id,
        engine_id=_engine(event, job),
        failed_at=to_millis(event.at),
        error=error_text(error),
        duration=_duration(event, job),
        category=error.category,
    )


def _progress(said: Event | Note) -> JobProgress:
    assert said.payload is not None
    return JobProgress(job_id=said.job_id, progress=round(said.payload["fraction"] * PERCENT))


def _engine(event: Event, job: Job) -> str | None:
    return event.worker or engine_of(job)


def _duration(event: Event, job: Job) -> int:
    """The difference of the moments that are shown, so that a reader who subtracts them gets the same."""
    return 0 if job.started_at is None else to_millis(event.at) - to_millis(job.started_at)


_DATA: Final[dict[str, Callable[[Event, Job], Data]]] = {
    "JOB_QUEUED": _queued,
    "JOB_DISPATCHED": _dispatched,
    "JOB_RUNNING": _running,
    "JOB_COMPLETED": _completed,
    "JOB_FAILED": _failed,
}
