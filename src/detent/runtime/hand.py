"""What a context asks of whoever runs its handler, and the answer where both share a process.

The coroutines here await nothing but the store. So a handler on a thread can run them to their end without an event
loop (`detent.client.sync`), and one on the loop can await them.
"""

from typing import Any, Protocol

from detent.client import Client, Job
from detent.errors import DetentError, LeaseLost, NotFound, Refused, Stopped, StoreError
from detent.kernel.command import Command, Complete, Renew
from detent.kernel.job import Progress
from detent.runtime.artifacts import Artifact, record
from detent.runtime.committer import STALE_MAX, request_of
from detent.runtime.run import Run
from detent.runtime.stopping import stop
from detent.store import Reply
from detent.store.protocol import Transaction


class Hand(Protocol):
    """`codec` and records are as the handler's own process can read them."""

    @property
    def job(self) -> Job: ...

    def stopped(self) -> Stopped | None:
        """Why the handler has to stop, if it has to."""

    def tell(self, progress: Progress) -> None: ...

    def save(self, value: Any) -> None:
        """Keep a checkpoint, to be written with the next renewal or with the end."""

    async def flush(self) -> None:
        """What was saved is durable on return."""

    async def artifact(self, artifact: Artifact) -> None: ...

    async def complete(self, result: Any, tx: Transaction | None) -> None: ...

    async def children(self) -> list[Job]: ...

    async def wait(self, timeout_s: float) -> None:
        """Until something has happened to any job since the last `wait(0)`, or so long."""

    def resolve(self, pointer: str) -> Any: ...


class OwnHand:
    """In the worker's own process."""

    __slots__ = ("_client", "_cursor", "_resolver", "_run", "_worker")

    def __init__(self, run: Run, client: Client, worker: str, resolver: Any) -> None:
        self._run = run
        self._client = client
        self._worker = worker
        self._resolver = resolver
        self._cursor: str | None = None

    @property
    def job(self) -> Job:
        return Job(self._run.job, self._client.codec)

    def stopped(self) -> Stopped | None:
        """By our own clock too: a handler that asks just after a pause must not be told that all is well."""
        run = self._run
        if run.is_lease_ending:
            stop(run, "lost", kill_s=run.lease_until_s)
        return None if run.stop is None else run.stop.error()

    def tell(self, progress: Progress) -> None:
        self._run.progress = progress

    def save(self, value: Any) -> None:
        self._run.checkpoint = self._client.codec.encode(value, "checkpoint")

    async def flush(self) -> None:
        saved = self._run.checkpoint
        if saved is None:
            return
        await self._act(Renew(worker=self._worker, attempt=self._run.attempt, checkpoint=saved))
        if self._run.checkpoint is saved:
            self._run.checkpoint = None

    async def artifact(self, artifact: Artifact) -> None:
        await record(self._client, self._run, self._worker, artifact)

    async def complete(self, result: Any, tx: Transaction | None) -> None:
        run = self._run
        encoded = self._client.codec.encode(run.handler.result(result), "result")
        run.is_completing = True
        await self._act(Complete(worker=self._worker, attempt=run.attempt, result=encoded), tx)

    async def children(self) -> list[Job]:
        found: list[Job] = []
        cursor: str | None = None
        while True:
            page = await self._client.find(parent_job_id=self._run.job.id, limit=1_000, cursor=cursor)
            found += page.items
            cursor = page.cursor
            if cursor is None:
                return found

    async def wait(self, timeout_s: float) -> None:
        if timeout_s > 0 and self._cursor is not None:
            await self._client.store.wait(self._cursor, timeout_s)
        else:
            self._cursor = await self._client.store.wait(None, 0)

    def resolve(self, pointer: str) -> Any:
        return self._resolver(pointer)

    async def _act(self, command: Command, tx: Transaction | None = None) -> None:
        """As the owner, on the revision as it is now; a renewal may have come in between."""
        run = self._run
        for _ in range(STALE_MAX):
            (reply,) = await self._client.store.apply([request_of(self._client.tenant, run, command)], tx)
            if isinstance(reply, Reply):
                run.rev = run.rev if tx is not None else reply.job.rev
                return
            refused = reply
            if not (isinstance(refused, Refused) and refused.code == "stale_rev" and await self._is_ours()):
                break
        raise self._meaning(refused)

    async def _is_ours(self) -> bool:
        (job,) = await self._client.store.get(self._client.tenant, [self._run.job.id])
        if job is None or job.owner != self._worker or job.attempt != self._run.attempt:
            return False
        self._run.rev = job.rev
        return True

    def _meaning(self, error: DetentError) -> Exception:
        if not isinstance(error, Refused | NotFound) or isinstance(error, StoreError):
            return error
        self._run.is_told_lost = True
        stop(self._run, "lost", kill_s=self._run.lease_until_s)
        lost = LeaseLost(str(error))
        lost.__cause__ = error
        return lost
