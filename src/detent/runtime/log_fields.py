"""Which job a line of the log is about, as attributes of Python's log records."""

from typing import Any, Final

from detent.kernel import Job
from detent.runtime.current import current_job
from detent.telemetry.traceparent import trace_id_of

# The attribute of a record, and what it is called where a line has fields.
FIELDS: Final = {
    "job_id": "job", "job_kind": "kind", "job_queue": "queue", "job_attempt": "attempt", "job_worker": "worker",
    "job_correlation_id": "correlation_id", "job_trace_id": "trace_id",
}  # fmt: skip
FAULT: Final = "job_fault"  # what a handler raised, which may have been in another process
STACK: Final = "job_stack"  # text at the end of the message that is lines of code


def fields_of(job: Job) -> dict[str, Any]:
    """For `extra`."""
    spec = job.spec
    return {
        "job_id": spec.id,
        "job_kind": spec.kind,
        "job_queue": spec.queue,
        "job_attempt": job.attempt,
        "job_worker": job.owner,
        "job_correlation_id": spec.correlation_id,
        "job_trace_id": trace_id_of(spec.trace_id),
    }


def current_fields() -> dict[str, Any]:
    """Of the job whose handler runs here; none outside of one."""
    job = current_job()
    return {} if job is None else fields_of(job)
