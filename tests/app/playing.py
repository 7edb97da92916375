"""A worker's part, played step by step: what it would do with the handlers of an app, without a process of its own."""

import asyncio
import inspect
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, TypeVar

from detent import App, Job
from detent.runtime.current import begin
from detent.runtime.handler import Handler

WORKER = "w1"
Result = TypeVar("Result")


def in_handler(job: Job, what: Callable[[], Result]) -> Result:
    """What comes of it where a handler of the job runs."""

    def begun() -> Result:
        begin(job.record.spec)
        return what()

    return copy_context().run(begun)


def run(handler: Handler, job: Job) -> Any:
    """What the function returns, called as a worker calls it."""
    returned = in_handler(job, lambda: handler.function(**handler.arguments(job.payload)))
    return asyncio.run(returned) if inspect.iscoroutine(returned) else returned


def work_off(app: App) -> list[Job]:
    """Do all there is to do, children included; the ended jobs."""
    handlers = {handler.kind: handler for handler in app.handlers()}
    queues = sorted({each.queue for each in app.registrations()})
    client, ended = app.client(), list[Job]()
    while jobs := client.claim(worker=WORKER, queues=queues, start=True):
        (job,) = jobs
        handler = handlers[job.kind]
        try:
            result = handler.result(run(handler, job))
        except Exception as error:
            ended.append(client.fail(job.id, error=error, worker=WORKER, attempt=job.attempt))
        else:
            ended.append(client.complete(job.id, result=result, worker=WORKER, attempt=job.attempt))
    return ended
