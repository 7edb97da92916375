"""From the end of a handler to the end of its attempt: what `detent.runtime.outcomes` does, one thing at a time."""

from typing import Any

from detent import kernel
from detent.client import Client
from detent.errors import Refused
from detent.kernel.command import Command
from detent.runtime.committer import named
from detent.runtime.ending import Ending
from detent.runtime.faults import Fault
from detent.runtime.observing import Observer
from detent.runtime.outcomes import ROLLED_BACK, came_to_of
from detent.store import Reply, Request
from detent.testing.trial.attempt import Attempt


class Settling:
    """`name` is the worker who asks."""

    def __init__(self, client: Client, name: str, observer: Observer) -> None:
        self._client = client
        self._name = name
        self._observer = observer
        self._ending = Ending(name, client.codec)

    async def ended(self, run: Attempt, value: Any, fault: Fault | None) -> str:
        """The handler came to its end, or is waited for no longer. What the attempt came to is returned."""
        run.is_over = True
        if fault is not None and not fault.is_stop:
            self._observer.failed(run, fault)
        if run.is_completing and fault is None:
            return await self._confirmed(run)
        if run.stop is not None and run.stop.reason == "lost":
            return await self.told_late(run, value, fault)
        return await self._submitted(run, self._ending.of(run, value, fault))

    async def _confirmed(self, run: Attempt) -> str:
        job = await self._read(run)
        if job is not None and self._is_ours(job, run):
            return await self._submitted(run, self._ending.failed(run, ROLLED_BACK))
        return "lost" if job is None else came_to_of(run, Reply(job))

    async def told_late(self, run: Attempt, value: Any, fault: Fault | None) -> str:
        """Of a job that is no longer ours, as far as the store keeps it."""
        job = await self._read(run)
        run.is_told_lost = job is None or not self._is_ours(job, run)
        return await self._submitted(run, self._ending.late(run, value, fault))

    async def _submitted(self, run: Attempt, commands: list[Command]) -> str:
        if not commands:
            return "lost"
        job = await self._read(run)
        if job is not None and self._is_ours(job, run):
            run.rev = job.rev
        tenant = self._client.tenant
        replies = await self._client.store.apply([Request(tenant, run.job.id, each) for each in named(run, commands)])
        if isinstance(replies[-1], Refused):
            self._observer.late(run, replies[-1].code)
        came_to = came_to_of(run, replies[-1])
        self._observer.ended(run, came_to)
        return came_to

    async def _read(self, run: Attempt) -> kernel.Job | None:
        (job,) = await self._client.store.get(self._client.tenant, [run.job.id])
        return job

    def _is_ours(self, job: kernel.Job, run: Attempt) -> bool:
        return job.owner == self._name and job.attempt == run.attempt
