"""Which job is being worked on here: the worker says it around each handler, and whoever enqueues inside reads it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from detent.client import Job

_CURRENT: Final[ContextVar[Job | None]] = ContextVar("detent_current_job", default=None)


def current_job() -> Job | None:
    """The job whose handler runs in this task or thread, as it was when the handler began; None outside of one."""
    return _CURRENT.get()


@contextmanager
def working_on(job: Job) -> Iterator[None]:
    """A handler runs inside this block. Tasks that it starts inherit it; a thread needs a copy of the context."""
    token = _CURRENT.set(job)
    try:
        yield
    finally:
        _CURRENT.reset(token)
