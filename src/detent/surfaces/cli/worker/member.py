"""One of several processes of a worker: it works as one alone would, tells its parent what it counts, and heeds it.

What the parent says comes over stdin, a word to a line. That stdin is closed means that the parent is gone.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Event, Thread
from typing import Final

import msgspec

from detent.errors import DetentError
from detent.runtime import Worker
from detent.runtime.observing import Logging
from detent.surfaces.cli.failure import Failure
from detent.surfaces.cli.worker.counts import counts_of
from detent.surfaces.cli.worker.memory import look_seldom
from detent.surfaces.cli.worker.plan import SERVICE, Plan, app_of, worker_of
from detent.surfaces.telemetry.logs import set_up_logs
from detent.surfaces.telemetry.tracing import set_up_tracing

STOP: Final = b"stop\n"
STOP_NOW: Final = b"now\n"
TOLD_EVERY_S: Final = 0.5
LAST_WORD_S: Final = 1.0
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


def main(plan: str, fd: int) -> None:
    asked = msgspec.json.decode(plan, type=Plan)
    try:
        app = app_of(asked)
        logs = asked.logs(is_one_of_several=True)
        is_ours = set_up_logs(logs)
        worker = worker_of(asked, app, Logging(), logs if is_ours else None)
        look_seldom()
        with ExitStack() as stack:
            stack.callback(set_up_tracing(SERVICE))
            asyncio.run(_work(worker, fd))
    except (DetentError, Failure) as error:
        sys.exit(f"worker {asked.name}: {error}")


async def _work(worker: Worker, fd: int) -> None:
    """A signal may come to all processes of a group, and the parent's word as well: each begins the same drain."""
    loop = asyncio.get_running_loop()
    for each in SIGNALS:
        loop.add_signal_handler(each, worker.stop)
    listening = loop.create_task(_listen(worker))
    with _telling(worker, fd):
        try:
            await worker.run()
        finally:
            listening.cancel()


async def _listen(worker: Worker) -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while word := await reader.readline():
        if word == STOP_NOW:
            worker.stop_now()
        else:
            worker.stop()
    worker.stop()


@contextmanager
def _telling(worker: Worker, fd: int) -> Iterator[None]:
    """On a thread: a parent that does not read must not keep anybody from working."""
    over = Event()
    thread = Thread(target=_tell, args=(worker, fd, over), name="detent-counts", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(LAST_WORD_S)


def _tell(worker: Worker, fd: int, over: Event) -> None:
    with os.fdopen(fd, "wb", 0) as parent, suppress(BrokenPipeError):  # then nobody wants to know any more
        while not over.wait(TOLD_EVERY_S):
            parent.write(_line(worker))
        parent.write(_line(worker))


def _line(worker: Worker) -> bytes:
    return msgspec.json.encode(counts_of(worker)) + b"\n"
