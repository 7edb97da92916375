"""The program of a child process: it runs one handler at a time, on its main thread, and listens on another."""

import asyncio
import ctypes
import inspect
import os
import pickle
import signal
import sys
import threading
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, Final

from detent.runtime import tracing
from detent.runtime.addresses import found
from detent.runtime.context import Context
from detent.runtime.current import begin
from detent.runtime.faults import Fault, fault_of
from detent.runtime.messages import Answer, Done, Ready, Task, Told
from detent.runtime.pipe_hand import PipeHand
from detent.telemetry.tracing import flush

_DIE_WITH_PARENT: Final = 1  # PR_SET_PDEATHSIG
ORPHANED: Final = 3  # exit code
FLUSH_S: Final = 1.0  # for spans that are still to be sent; the worker waits a little longer


class Line:
    """The child's end of the pipe. Whatever thread of the handler speaks, each message goes out whole."""

    def __init__(self, pipe: "Connection[Any, Any]") -> None:
        self._pipe = pipe
        self._speaking = threading.Lock()
        self.luggage: dict[str, Any] = pickle.loads(pipe.recv_bytes())
        self.tasks: SimpleQueue[Task] = SimpleQueue()
        self.hand: PipeHand | None = None

    def say(self, message: Any) -> None:
        data = pickle.dumps(message)
        with self._speaking:
            self._pipe.send_bytes(data)

    def listen(self) -> None:
        """Until the worker is gone; then nobody waits for what is done here."""
        while True:
            try:
                message = pickle.loads(self._pipe.recv_bytes())
            except (EOFError, OSError):
                os._exit(ORPHANED)
            match message:
                case None:
                    flush(FLUSH_S)
                    os._exit(0)
                case Task():
                    self.tasks.put(message)
                case Told() if self.hand is not None:
                    self.hand.told = message
                case Answer() if self.hand is not None:
                    self.hand.answered(message)


def main(fd: int) -> None:
    _die_with_parent()
    line = Line(Connection(fd))
    prepare = line.luggage.get("prepare")
    if prepare is not None:
        prepare()
    threading.Thread(target=line.listen, name="detent-listener", daemon=True).start()
    line.say(Ready())
    while True:
        task = line.tasks.get()
        line.hand = PipeHand(task, line.say, line.luggage)
        done = _carried_out(task, line.hand)
        line.hand = None
        _report(line, done)


def _carried_out(task: Task, hand: PipeHand) -> Done:
    try:
        function = found(task.address)
        begin(task.job)  # one at a time: the next task's takes its place
        tracing.enter_from(task.traceparent, task.job)
        value = function(Context(hand), **task.arguments) if task.wants_context else function(**task.arguments)
        return Done(asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value)
    except BaseException as error:  # SystemExit too: it is the handler's, and the child lives on
        return Done(fault=fault_of(error))


async def _awaited(value: Any) -> Any:
    return await value


def _report(line: Line, done: Done) -> None:
    try:
        line.say(done)
    except Exception as error:  # what it returned cannot be sent; pickle raises whatever it likes
        message = f"what the handler returned cannot be sent to the worker: {type(error).__name__}: {error}"
        line.say(Done(fault=Fault(("PermanentError",), message, "result_not_sent", "output")))


def _die_with_parent() -> None:
    """Also where a handler that never yields keeps the listener from hearing that the worker is gone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
