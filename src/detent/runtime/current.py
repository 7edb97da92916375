"""Which job is being worked on here: the worker says it before each handler, and whoever enqueues inside reads it."""

from contextvars import ContextVar
from typing import Final

from detent.kernel import Job
from detent.kernel.job import Spec

_CURRENT: Final[ContextVar[Job | None]] = ContextVar("detent_current", default=None)


def current() -> Spec | None:
    """What the job is whose handler runs in this task or thread; None outside of a handler."""
    job = _CURRENT.get()
    return None if job is None else job.spec


def current_job() -> Job | None:
    """The whole record of it, as it was when this attempt began."""
    return _CURRENT.get()


def begin(job: Job) -> None:
    """From here on, in this context: handlers run in a copy of their own, which ends with them."""
    _CURRENT.set(job)
