"""Which job is being worked on here: the worker says it around each handler, and whoever enqueues inside reads it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from detent.kernel.job import Spec

_CURRENT: Final[ContextVar[Spec | None]] = ContextVar("detent_current", default=None)


def current() -> Spec | None:
    """What the job is whose handler runs in this task or thread; None outside of a handler."""
    return _CURRENT.get()


@contextmanager
def working_on(spec: Spec) -> Iterator[None]:
    """A handler runs inside this block. Tasks that it starts inherit it; a thread needs a copy of the context."""
    token = _CURRENT.set(spec)
    try:
        yield
    finally:
        _CURRENT.reset(token)
