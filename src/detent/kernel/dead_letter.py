"""What a dead letter carries, read off the record of a job that was set aside."""

from collections.abc import Iterable

from msgspec import Struct

from detent.kernel.failure import Error, ReasonCode, Stage, reason_of
from detent.kernel.job import Job
from detent.lifecycle import Lifecycle


class DeadLetter(Struct, frozen=True):
    """Enough to decide what to do with it without looking anywhere else."""

    job_id: str
    reason_code: ReasonCode
    stage: Stage
    last_error: Error
    attempts: int
    last_owner: str | None
    last_lease_expires_at: int | None
    correlation_id: str


def dead_letter_states(lifecycles: Iterable[Lifecycle]) -> list[str]:
    """Where dead letters go, in any of these."""
    return sorted({state for each in lifecycles for state in each.table.targets.get("dead_letter", ())})


def is_dead_letter(lifecycle: Lifecycle, job: Job) -> bool:
    """Whether it ended where dead letters go: in a state that the verb dead_letter leads to."""
    return job.state in lifecycle.table.targets.get("dead_letter", ())


def dead_letter_of(lifecycle: Lifecycle, job: Job) -> DeadLetter | None:
    error = job.error
    if error is None or not is_dead_letter(lifecycle, job):
        return None
    assert error.stage is not None, "a failure that ended a job has a stage"
    return DeadLetter(
        job_id=job.id,
        reason_code=_reason_code(error, job),
        stage=error.stage,
        last_error=error,
        attempts=job.attempt,
        last_owner=job.last_owner,
        last_lease_expires_at=job.last_lease_expires_at,
        correlation_id=job.spec.correlation_id,
    )


def reason_code_of(job: Job) -> ReasonCode | None:
    """Why it ended as it did; None, if nothing went wrong with it."""
    return None if job.error is None else _reason_code(job.error, job)


def _reason_code(error: Error, job: Job) -> ReasonCode:
    return error.reason_code or reason_of(error.type, job.spec.policy.error_classes)
