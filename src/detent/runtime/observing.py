"""Who wants to know what a worker does: for a status line, logs, metrics. Nothing depends on an observer."""

import logging
from typing import TYPE_CHECKING, Final

from detent.runtime.log_fields import FAULT, STACK, fields_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.kernel import Job
    from detent.runtime.faults import Fault
    from detent.runtime.run import Run
    from detent.runtime.worker import Worker

log: Final = logging.getLogger("detent.worker")


class Observer:
    """Override what matters. Calls come from several threads, must be quick, and must not raise."""

    def opened(self, worker: "Worker") -> None:
        """It has begun."""

    def draining(self, running: int, grace_s: float) -> None:
        """It is to stop, and claims no more; so many handlers have so long to finish."""

    def claimed(self, jobs: "Sequence[Job]") -> None:
        """These jobs were claimed, and are about to run."""

    def conflicted(self, count: int) -> None:
        """So many jobs that a claim was after had been taken by others in the meantime."""

    def ended(self, run: "Run", came_to: str) -> None:
        """An attempt is settled: success, failure, cancelled, retried, released or lost."""

    def failed(self, run: "Run", fault: "Fault") -> None:
        """A handler raised."""

    def renewed(self, count: int) -> None:
        """So many leases were extended."""

    def stopping(self, run: "Run", reason: str) -> None:
        """A handler was told to stop: leaving, cancel, overtime, lost or cancelled."""

    def late(self, run: "Run", code: str) -> None:
        """What was said of a job was refused: it is no longer this worker's."""

    def stalled(self, handlers: str, for_s: float, stack: str) -> None:
        """The event loop stood still, at this place of the code; or, without a place, the whole process did."""

    def judged(self, verdict: str, count: int) -> None:
        """The policy gave so many jobs this verdict, and it is on the record."""

    def reconciled(self, count: int) -> None:
        """Time demanded something of so many jobs, and it was done."""

    def expired(self, count: int) -> None:
        """Of these, so many were leases that had run out."""

    def buried(self, job: "Job") -> None:
        """A job has become a dead letter, by what its handler came to or by what time demanded."""

    def given_up(self, job: "Job") -> None:
        """Time has ended a job as a failure that is no dead letter, or has parked it until a person requeues it."""

    def ticked(self, schedule: str) -> None:
        """The calendar asked for a job, and this worker made it."""

    def pruned(self, count: int) -> None:
        """So many jobs were old enough to be removed."""

    def troubled(self, duty: str, error: BaseException) -> None:
        """A duty could not be done; it is tried again."""


class Logging(Observer):
    """To Python's log, under "detent.worker": the default."""

    def draining(self, running: int, grace_s: float) -> None:
        if running:
            log.info("stopping: %d running, with %g s to finish", running, grace_s)
        else:
            log.info("stopping: nothing is running")

    def failed(self, run: "Run", fault: "Fault") -> None:
        extra = {**fields_of(run.job), FAULT: fault}
        trace = fault.trace.rstrip()
        log.warning("%s failed: %s: %s\n%s", _named(run), fault.names[0], fault.message, trace, extra=extra)

    def stopping(self, run: "Run", reason: str) -> None:
        log.warning("%s is to stop: %s", _named(run), reason, extra=fields_of(run.job))

    def late(self, run: "Run", code: str) -> None:
        said = "%s came too late (%s); the store keeps what it said as a note"
        log.warning(said, _named(run), code, extra=fields_of(run.job))

    def stalled(self, handlers: str, for_s: float, stack: str) -> None:
        if stack:
            said = "stood still for %.1f s in %s; give it isolation='thread' or 'process'\n%s"
            log.error(said, for_s, handlers, stack, extra={STACK: stack})
        else:
            what = "it was paused, or one of these kept the interpreter, which isolation='process' would keep it from"
            log.error("the whole process stood still for %.1f s; %s: %s", for_s, what, handlers)

    def buried(self, job: "Job") -> None:
        said = "%s job %s is a dead letter %s%s"
        log.error(said, job.spec.kind, job.id, _attempts(job), _why(job), extra=fields_of(job))

    def given_up(self, job: "Job") -> None:
        what = f"has ended in '{job.state}'" if job.is_ended else f"waits in '{job.state}' for a person to requeue it,"
        log.error("%s job %s %s %s%s", job.spec.kind, job.id, what, _attempts(job), _why(job), extra=fields_of(job))

    def troubled(self, duty: str, error: BaseException) -> None:
        log.error("%s: %s: %s; trying again", duty, type(error).__name__, error)


class Troubled(Observer):
    """Only of trouble, in the log of whoever's duty it is."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log

    def troubled(self, duty: str, error: BaseException) -> None:
        self._log.error("%s: %s: %s; trying again", duty, type(error).__name__, error)


def _attempts(job: "Job") -> str:
    if not job.attempt:
        return "before any attempt"
    return f"after {job.attempt} attempt{'' if job.attempt == 1 else 's'}"


def _why(job: "Job") -> str:
    error = job.error or job.last_error
    return "" if error is None else f": {error.type}: {error.message}"


def _named(run: "Run") -> str:
    return f"{run.handler.kind} job {run.job.spec.id} attempt {run.attempt}"
