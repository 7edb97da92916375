"""From the end of a handler to the end of its run: what is asked of the store, and what came of asking.

Everything here happens on the loop.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from detent import kernel
from detent.client import Client
from detent.errors import DetentError, Refused, StoreError
from detent.kernel.command import Command
from detent.runtime.backing_off import Backoff
from detent.runtime.ending import Ending
from detent.runtime.faults import Fault
from detent.runtime.observing import Observer
from detent.runtime.run import Key, Run
from detent.store import Reply


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
        self.submit: Callable[[Run, list[Command]], None]
        self.on_empty: Callable[[], None] = lambda: None

    def ended(self, run: Run, value: Any, fault: Fault | None) -> None:
        """A handler came to its end, or is waited for no longer. It may end a second time then, too late."""
        if run.is_over:
            self._submit(run, self._ending.late(run, value, fault))
            return
        run.is_over = True
        self._freed()
        if fault is not None and not fault.is_stop:
            self._observer.failed(run, fault)
        if run.is_completing and fault is None:
            self._look_soon(run)
            return
        self._submit(run, self._ending.of(run, value, fault))

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

    def settled(self, run: Run, answer: Reply | DetentError) -> None:
        if isinstance(answer, Refused):
            self._observer.late(run, answer.code)
        self._forget(run, _came_to(run, answer))

    def _submit(self, run: Run, commands: list[Command]) -> None:
        if commands:
            self.submit(run, commands)
        else:
            self._forget(run, "lost")
            if run.stop is not None and run.stop.reason == "overtime":
                self._due()

    def _forget(self, run: Run, came_to: str) -> None:
        if self._live.pop(run.key, None) is not None:
            self._observer.ended(run, came_to)
            if not self._live:
                self.on_empty()

    def _look_soon(self, run: Run) -> None:
        task = asyncio.get_running_loop().create_task(self._look(run))
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)

    async def _look(self, run: Run) -> None:
        """The handler has completed its job in a transaction of its own: did that commit?"""
        patience = Backoff()
        while not run.is_surely_lost:
            try:
                (job,) = await self._client.store.get(self._client.tenant, [run.job.id])
            except StoreError as error:
                self._observer.troubled("look at a completion", error)
                await patience.wait()
                continue
            if job is not None and job.owner == self._worker and job.attempt == run.attempt:
                run.rev = job.rev
                self._submit(run, self._ending.failed(run, _ROLLED_BACK))
            else:
                self.settled(run, Reply(job or run.job))
            return
        self._forget(run, "lost")


_ROLLED_BACK = Fault(
    ("CompletionRolledBack",),
    "the handler returned, but the transaction in which it completed the job did not commit",
    "completion_rolled_back",
    "commit",
)


def _came_to(run: Run, answer: Reply | DetentError) -> str:
    if not isinstance(answer, Reply) or answer.job.attempt != run.attempt:
        return "lost"
    job: kernel.Job = answer.job
    if job.outcome is not None:
        return job.outcome
    return "released" if job.interruptions > run.job.interruptions else "retried"
