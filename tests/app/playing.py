"""Where a handler runs, without a worker around it."""

from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

from detent import Job
from detent.runtime.current import begin

Result = TypeVar("Result")


def in_handler(job: Job, what: Callable[[], Result]) -> Result:
    """What comes of it where a handler of the job runs."""

    def begun() -> Result:
        begin(job.record)
        return what()

    return copy_context().run(begun)
