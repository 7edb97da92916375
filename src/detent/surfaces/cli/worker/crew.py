"""Several processes, each with a worker of its own, and their parent: it starts them, replaces those that die,
passes on that they are to stop, and adds up what they count.
"""

import asyncio
import logging
import os
import signal
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Final

import msgspec
from msgspec.structs import replace

from detent.surfaces.cli.worker.counts import Counts, over, summed
from detent.surfaces.cli.worker.member import SIGNALS, STOP, STOP_NOW
from detent.surfaces.cli.worker.plan import Plan
from detent.surfaces.telemetry.logs import NAME

PROCESSES_MAX: Final = 256
REST_S: Final = 1.0  # before a process that died is replaced; twice as long each time that its successor dies soon
REST_MAX_S: Final = 30.0
SOON_S: Final = 60.0
AT_ONCE_S: Final = 15.0  # for processes that are to end at once, before they are killed
LAST_WORD_S: Final = 1.0  # for what a process that has ended had still to say
LINE_BYTES_MAX: Final = 2**24
_PROGRAM: Final = "import sys; sys.path[:] = {path!r}; from {module} import main; main({plan!r}, {fd})"
_MEMBER: Final = "detent.surfaces.cli.worker.member"

log: Final = logging.getLogger(NAME)


class Crew:
    def __init__(self, plan: Plan, processes: int) -> None:
        self._plans = [replace(plan, name=f"{plan.name}.{number}") for number in range(1, processes + 1)]
        self._counts: dict[str, Counts] = {}  # of those that are there
        self._before = Counts()  # of those that were
        self._members: dict[str, Member] = {}
        self._stopping = asyncio.Event()
        self._hurried = asyncio.Event()
        self.is_clean = True  # none had to be killed

    def look(self) -> Counts:
        """From any thread."""
        counts = summed([self._before, *list(self._counts.values())])
        counts.is_draining = counts.is_draining or self._stopping.is_set()
        return counts

    async def run(self) -> None:
        """Until a signal comes, and then until all have drained; a second one makes them end at once."""
        loop = asyncio.get_running_loop()
        for each in SIGNALS:
            loop.add_signal_handler(each, self._heed)
        async with asyncio.TaskGroup() as group:
            killing = group.create_task(self._kill())
            places = [group.create_task(self._keep(plan)) for plan in self._plans]
            await asyncio.wait(places)
            killing.cancel()

    def _heed(self) -> None:
        """The first signal, and any after it."""
        word = STOP_NOW if self._stopping.is_set() else STOP
        if word == STOP_NOW:
            self._hurried.set()
        else:
            log.info("stopping %d processes", len(self._members))
        self._stopping.set()
        for member in self._members.values():
            member.say(word)

    async def _keep(self, plan: Plan) -> None:
        """One place: somebody is there until all are to stop."""
        rest_s = REST_S
        while not self._stopping.is_set():
            began_s = monotonic()
            how = await self._serve(plan)
            if self._stopping.is_set():
                return
            rest_s = REST_S if monotonic() - began_s > SOON_S else rest_s
            log.error("process of worker %s %s; another one starts in %g s", plan.name, how, rest_s)
            await _first_of(self._stopping, rest_s)
            rest_s = min(2 * rest_s, REST_MAX_S)

    async def _serve(self, plan: Plan) -> str:
        """From the start of a process to its end, and how that came."""
        member = self._members[plan.name] = Member(plan)
        try:
            await member.open(partial(self._counts.__setitem__, plan.name))
            if self._stopping.is_set():  # the word was said before there was anybody to hear it
                member.say(STOP)
            return await member.ended()
        finally:
            self._before = summed([self._before, over(self._counts.pop(plan.name, Counts()))])
            del self._members[plan.name]

    async def _kill(self) -> None:
        await self._hurried.wait()
        await asyncio.sleep(AT_ONCE_S)
        for name, member in self._members.items():
            log.error("worker %s has not ended in %g s, and is killed", name, AT_ONCE_S)
            self.is_clean = False
            member.kill()


class Member:
    """A process as its parent holds it. `open` starts it."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._process: Process | None = None

    async def open(self, hear: Callable[[Counts], None]) -> None:
        """`hear` is told what it counts, each time that it says so."""
        out, told = os.pipe()
        plan = msgspec.json.encode(self._plan).decode()
        try:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                _PROGRAM.format(path=sys.path, module=_MEMBER, plan=plan, fd=told),
                stdin=subprocess.PIPE,
                pass_fds=(told,),
                start_new_session=True,  # a Ctrl-C is for the parent alone, which passes it on once
            )
        finally:
            os.close(told)
        self._hearing = asyncio.create_task(_hear(out, hear))

    def say(self, word: bytes) -> None:
        """To one that is gone nothing can be said."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(word)

    async def ended(self) -> str:
        """How it came to its end, when it does."""
        assert self._process is not None, "it was started"
        code = await self._process.wait()
        await asyncio.wait([self._hearing], timeout=LAST_WORD_S)  # something that it started may keep the pipe open
        self._hearing.cancel()
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def kill(self) -> None:
        """With whatever it has started."""
        if self._process is not None and self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)


async def _hear(out: int, hear: Callable[[Counts], None]) -> None:
    reader, loop = asyncio.StreamReader(limit=LINE_BYTES_MAX), asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(out, "rb", 0))
    try:
        while line := await reader.readline():
            hear(msgspec.json.decode(line, type=Counts))
    finally:
        transport.close()


async def _first_of(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
