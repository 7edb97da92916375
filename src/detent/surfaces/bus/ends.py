"""What a pool and whoever submitted are told of the end of a job that the pool did not report itself."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from detent.errors import BUS_ERRORS
from detent.kernel import Event, Job
from detent.surfaces.bus.packets import Packet, message
from detent.surfaces.bus.reports import NUMBERS
from detent.wire.bounds import TEXT_CHARS_MAX

# Ends that are not for the pool to report. A pool that has the job is told to leave it.
ANNOUNCED: Final = ("CANCELLED", "DENIED", "TIMEOUT")
FAILED: Final = "FAILED"
LAST: Final = 2  # events that say who cancelled: one asked for it, and maybe another one carried it out
_CANCELLING: Final = ("request_cancel", "cancel")


def is_announced(job: Job) -> bool:
    """A failure is for the pool to report, unless it knows nothing of it."""
    is_ours = job.state == FAILED and job.error is not None and job.error.code in BUS_ERRORS
    return is_ours or job.state in ANNOUNCED


class Asked(NamedTuple):
    """Who wanted the end of a job, and why."""

    who: str
    why: str


def asked_for(job: Job, last: Sequence[Event], name: str) -> Asked:
    """By what was asked first of its last events. What nobody has asked for was `name`'s to find out."""
    cancelling = [each for each in last if each.verb in _CANCELLING]
    if not cancelling:
        return Asked(name, job.state)
    first = min(cancelling, key=lambda each: each.rev)
    return Asked(first.actor, first.cause or job.state)


def end_of(job: Job, asked: Asked, name: str) -> Packet:
    error = job.error
    told = message(
        "JobResult", job_id=job.id, status=NUMBERS[job.state], worker_id=name,
        error_code=job.state if error is None else error.code or error.type,
        error_message=(asked.why if error is None else error.message)[:TEXT_CHARS_MAX],
    )  # fmt: skip
    return Packet(job.spec.correlation_id, name, "job_result", told)


def cancel_of(job: Job, asked: Asked, name: str) -> Packet:
    told = message("JobCancel", job_id=job.id, reason=asked.why, requested_by=asked.who)
    told.dispatch.attempt = job.attempt
    return Packet(job.spec.correlation_id, name, "job_cancel", told)
