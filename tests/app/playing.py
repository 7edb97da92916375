"""A worker's part, played step by step: what it would do with the handlers of an app, without a process of its own."""

import asyncio
import inspect
from typing import Any

from detent import App, Job
from detent.runtime.current import working_on
from detent.runtime.handler import Handler

WORKER = "w1"


def run(handler: Handler, job: Job) -> Any:
    """What the function returns, called as a worker calls it."""
    with working_on(job.record.spec):
        returned = handler.function(**handler.arguments(job.payload))
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
