"""`document` on the wire: a job's metadata, in the document's own names."""

from typing import Literal

from detent.kernel import Job
from detent.lifecycle import Retry
from detent.wire.moments import if_set, to_rfc3339
from detent.wire.shape import CamelShape, error_text

ErrorType = Literal["RETRYABLE", "TERMINAL"]


class Metadata(CamelShape, frozen=True):
    """`jobId`, `createdAt` and `maxRetries` never change; the rest follows the job.

    `startedAt` is the latest attempt's. `lastError` and `errorType` are null until something fails, and on success.
    """

    job_id: str
    state: str
    created_at: str
    started_at: str | None
    completed_at: str | None
    retry_count: int
    max_retries: int
    last_error: str | None
    error_type: ErrorType | None


def metadata_of(job: Job) -> Metadata:
    is_success = job.result_digest is not None
    error = None if is_success else job.last_error
    return Metadata(
        job_id=job.id,
        state=job.state,
        created_at=to_rfc3339(job.created_at),
        started_at=if_set(to_rfc3339, job.started_at),
        completed_at=if_set(to_rfc3339, job.ended_at),
        retry_count=job.retries,
        max_retries=_retries_max(job.spec.policy.retry),
        last_error=None if error is None else error_text(error),
        error_type=None if error is None else _error_type(job),
    )


def _error_type(job: Job) -> ErrorType:
    """An error that did not end the job was retried; one that did is final, used-up retries and a cancel included."""
    return "TERMINAL" if job.is_ended else "RETRYABLE"


def _retries_max(retry: Retry) -> int:
    """The first attempt is no retry. An error type may have a budget of its own; the largest bounds them all."""
    return max(budget.max_attempts for budget in (retry, *retry.by_error.values())) - 1
