"""Which job is being worked on here: the worker says it before each handler, and whoever enqueues inside reads it."""

from contextvars import ContextVar
from typing import Final

from detent.kernel.job import Spec

_CURRENT: Final[ContextVar[Spec | None]] = ContextVar("detent_current", default=None)


def current() -> Spec | None:
    """What the job is whose handler runs in this task or thread; None outside of a handler."""
    return _CURRENT.get()


def begin(spec: Spec) -> None:
    """From here on, in this context: handlers run in a copy of their own, which ends with them."""
    _CURRENT.set(spec)
