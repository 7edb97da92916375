"""From the end of a handler to the end of its run: what is asked of the store, and what came of asking.

Everything here happens on the loop.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

from detent import kernel
from detent.client import Client
from detent.errors import DetentError, Refused
from detent.kernel.command import Command, Fail
from detent.runtime import tracing
from detent.runtime.backing_off import Backoff
from detent.runtime.ending import Ending
from detent.runtime.faults import Fault
from detent.runtime.observing import Observer
from detent.runtime.run import Key, Run
from detent.store import Reply

LEFT_MAX: Final = 1_000
# What a handler came to. Refused, the store keeps it; that it was stopped or given back is nothing to keep.
RESULTS: Final = frozenset({"complete", "fail"})


class Outcomes:
    """`submit` hands an end to the committer; `freed` says that a slot is; `due` that time demands something."""

    def __init__(
        self,
        client: Client,
        ending: Ending,
        live: dict[Key, Run],
        *,
        worker: str,
        observer: Observer,
        freed: Callable[[], None],
        due: Callable[[], None],
    ) -> None:
        self._client = client
        self._ending = ending
        self._live = live
        self._worker = worker
        self._observer = observer
        self._freed = freed
        self._due = due
        self._looking: set[asyncio.Task[None]] = set()
        self._left: deque[Key] = deque(maxlen=LEFT_MAX)
        self.submit: Callable[[Run, list[Command]], None]
        self.on_empty: Callable[[], None] = lambda: None

    def ended(self, run: Run, value: Any, fault: Fault | None) -> None:
        """A handler came to its end, or is waited for no longer. It may end a second time then, too late."""
        if run.is_over:
            self._soon(self._tell_late(run, value, fault))
            return
        run.is_over = True
        self._freed()
        failure = fault
        if fault is not None and not fault.is_stop and not run.is_killed:  # what a kill brings about is no failure
            self._observer.failed(run, fault)
        if run.is_completing and fault is None:
            self._soon(self._confirm(run))
        elif run.stop is not None and run.stop.reason == "lost":
            self._soon(self._tell_late(run, value, fault))
        else:
            commands = self._ending.of(run, value, fault)
            if fault is None and commands and isinstance(commands[-1], Fail):
                failure = _fault_in(commands[-1])  # it returned, but what nobody can keep
                self._observer.failed(run, failure)
            self._submit(run, commands)
        tracing.end(run, failure)

    def give_back(self, runs: list[Run]) -> list[Run]:
        """Those that have not begun, as their lifecycles allow; the others are returned."""
        kept = []
        for run in runs:
            commands = self._ending.given_back(run)
            if commands:
                run.is_over = True
                self.submit(run, commands)
            else:
                kept.append(run)
        return kept

    def forget(self, runs: list[Run]) -> None:
        """Leave these to time."""
        for run in runs:
            self._forget(run, "lost")

    def settled(self, run: Run, answer: Reply | DetentError) -> None:
        if isinstance(answer, Reply):
            if answer.job.state in run.ways.dead_letters:
                self._observer.buried(answer.job)
        elif isinstance(answer, Refused) and answer.verb in RESULTS:
            self._observer.late(run, answer.code)
        self._forget(run, came_to_of(run, answer))

    def close(self) -> None:
        """What is still being looked into is no longer of any use."""
        for task in self._looking:
            task.cancel()

    def _submit(self, run: Run, commands: list[Command]) -> None:
        if commands:
            self.submit(run, commands)
        else:
            self._forget(run, "lost")
            if run.stop is not None and run.stop.reason == "overtime":
                self._due()

    def knows(self, key: Key) -> bool:
        """Whether a job that is ours on the record is in our hands, or was left to time on purpose."""
        return key in self._live or key in self._left

    def _forget(self, run: Run, came_to: str) -> None:
        if self._live.pop(run.key, None) is not None:
            if came_to == "lost":
                self._left.append(run.key)
            self._observer.ended(run, came_to)
            if not self._live:
                self.on_empty()

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)

    async def _confirm(self, run: Run) -> None:
        """The handler has completed its job in a transaction of its own: did that commit?"""
        job = await self._read(run)
        if job is None:
            self._forget(run, "lost")
        elif self._is_ours(job, run):
            run.rev = job.rev
            self._observer.failed(run, ROLLED_BACK)
            self._submit(run, self._ending.failed(run, ROLLED_BACK))
        else:
            self.settled(run, Reply(job))

    async def _tell_late(self, run: Run, value: Any, fault: Fault | None) -> None:
        """What was said of a job after its lease was given up, if the store is sure to refuse it and note it."""
        job = None if run.is_surely_lost else await self._read(run)
        if job is not None and not self._is_ours(job, run):
            run.is_told_lost = True
        self._submit(run, self._ending.late(run, value, fault))

    async def _read(self, run: Run) -> kernel.Job | None:
        """None, if the store could not be asked as long as that mattered."""
        patience = Backoff()
        while True:
            try:
                (job,) = await self._client.store.get(self._client.tenant, [run.job.id])
            except DetentError as error:
                self._observer.troubled("look at a job", error)
                if run.is_surely_lost:
                    return None
                await patience.wait()
            else:
                return job

    def _is_ours(self, job: kernel.Job, run: Run) -> bool:
        return job.owner == self._worker and job.attempt == run.attempt


ROLLED_BACK: Final = Fault(
    ("CompletionRolledBack",),
    "the handler returned, but the transaction in which it completed the job did not commit",
    "completion_rolled_back",
    "commit",
)


def _fault_in(command: Fail) -> Fault:
    error = command.error
    return Fault((error.type,), error.message, error.code, error.stage, error.reason_code)


def came_to_of(run: Run, answer: Reply | DetentError) -> str:
    """What an attempt came to, by what the store answered."""
    if not isinstance(answer, Reply) or answer.job.attempt != run.attempt:
        return "lost"
    job: kernel.Job = answer.job
    if job.outcome is not None:
        return job.outcome
    return "released" if job.interruptions > run.job.interruptions else "retried"
