"""What a handler knows of its attempt, and what it can say of it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

from detent.client.sync import SyncClient
from detent.client.sync import run as blocking
from detent.errors import InvalidArgument, WaitTimedOut
from detent.kernel.job import Progress
from detent.lifecycle.bounds import check_at_least
from detent.runtime import tracing
from detent.runtime.artifacts import Artifact
from detent.runtime.log_fields import fields_of
from detent.store.waiting import is_blocking

if TYPE_CHECKING:
    from detent.client import Job
    from detent.runtime.hand import Hand
    from detent.store.protocol import Transaction

WAIT_S: Final = 0.5  # between looks at whether the handler is to stop
_log: Final = logging.getLogger("detent.job")
Result = TypeVar("Result")


class Context:
    """One attempt at one job, as its handler sees it.

    What blocks has a twin for the event loop, named with an a in front: `save` and `asave`, `check` and `acheck`.
    """

    __slots__ = ("_checkpoint", "_hand", "_is_saved", "_job", "_logger")

    def __init__(self, hand: "Hand") -> None:
        self._hand = hand
        self._job: Job | None = None
        self._logger: logging.LoggerAdapter[logging.Logger] | None = None
        self._checkpoint: Any = None
        self._is_saved = False

    @property
    def job(self) -> "Job":
        """The job as it was when this attempt began."""
        if self._job is None:
            self._job = self._hand.job
        return self._job

    @property
    def attempt(self) -> int:
        return self.job.attempt

    @property
    def fence(self) -> tuple[str, int]:
        """Job id and attempt. Give it to whatever you write to: an older attempt must not overwrite a newer one."""
        return self.job.id, self.job.attempt

    @property
    def checkpoint(self) -> Any:
        """What was saved last, by this attempt or by one before it; None if nothing was."""
        return self._checkpoint if self._is_saved else self.job.checkpoint

    @property
    def logger(self) -> "logging.LoggerAdapter[logging.Logger]":
        """Python's, with the ids of the job on every record."""
        if self._logger is None:
            self._logger = logging.LoggerAdapter(_log, fields_of(self.job.record))
        return self._logger

    def progress(self, fraction: float, message: str = "") -> None:
        """How far along it is, from 0 to 1. It is told at most once a second, and the last word always."""
        check_at_least("fraction", fraction, 0)
        if fraction > 1:
            raise InvalidArgument(f"fraction is {fraction:g}; it goes from 0 to 1")
        self._hand.tell(Progress(float(fraction), str(message)))

    def check(self) -> None:
        """Raise `Cancelled`, `LeaseLost` or another `Stopped` if the handler is to stop now."""
        stopped = self._hand.stopped()
        if stopped is not None:
            raise stopped

    async def acheck(self) -> None:
        """The same, and let others on the event loop have their turn."""
        await asyncio.sleep(0)
        self.check()

    def save(self, value: Any, *, flush: bool = False) -> None:
        """Keep a checkpoint for the next attempt. It is written with the next renewal; with `flush`, now."""
        self._keep(value)
        if flush:
            _blocking(self._hand.flush(), "asave")

    async def asave(self, value: Any, *, flush: bool = False) -> None:
        self._keep(value)
        if flush:
            await self._hand.flush()

    def artifact(self, name: str, pointer: str, *, size: int | None = None, digest: str | None = None) -> None:
        """Register something that this attempt made, and where it is."""
        _blocking(self._hand.artifact(Artifact(name, pointer, size, digest)), "aartifact")

    async def aartifact(self, name: str, pointer: str, *, size: int | None = None, digest: str | None = None) -> None:
        await self._hand.artifact(Artifact(name, pointer, size, digest))

    def complete(self, result: Any = None, *, tx: "Transaction | None" = None) -> None:
        """Complete the job here and now: with `tx`, when that transaction of yours commits, and only then.

        What the handler returns afterwards is not looked at. If the transaction did not commit, the attempt has failed.
        """
        _blocking(self._hand.complete(result, tx), "acomplete")

    async def acomplete(self, result: Any = None, *, tx: "Transaction | None" = None) -> None:
        await self._hand.complete(result, tx)

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """A transaction of your own in the store's database, for your tables and `complete(…, tx=…)` together."""
        with SyncClient(_blocking(self._hand.client(), "atransaction")).transaction() as tx:
            yield tx

    @asynccontextmanager
    async def atransaction(self) -> AsyncIterator[Any]:
        client = await self._hand.client()
        async with client.transaction() as tx:
            yield tx

    def children(self) -> "list[Job]":
        """The jobs that name this one as their parent, the newest first."""
        return _blocking(self._hand.children(), "achildren")

    async def achildren(self) -> "list[Job]":
        return await self._hand.children()

    def wait_children(self, *, timeout_s: float | None = None) -> "list[Job]":
        """The children, once all of them have ended. It checks meanwhile whether the handler is to stop."""
        return _blocking(self._wait_children(timeout_s), "await_children")

    async def await_children(self, *, timeout_s: float | None = None) -> "list[Job]":
        return await self._wait_children(timeout_s)

    def resolve(self, pointer: str | None = None) -> Any:
        """What a pointer leads to, by the resolver that is configured; without one, the job's own context pointer."""
        wanted = self.job.context_ptr if pointer is None else pointer
        if wanted is None:
            raise InvalidArgument(f"job {self.job.id} has no context_ptr; name the pointer that is to be resolved")
        return self._hand.resolve(wanted)

    def trace_headers(self) -> Mapping[str, str]:
        """For calls that the handler makes: what ties them to this job, as W3C Trace Context has it where it can."""
        job = self.job
        headers = tracing.headers_of(job.record.spec.trace_id, job.id)
        headers |= {"x-correlation-id": job.correlation_id, "x-job-id": job.id}
        if "traceparent" not in headers and job.trace_id is not None:
            headers["x-trace-id"] = job.trace_id
        return headers

    def _keep(self, value: Any) -> None:
        self._hand.save(value)
        self._checkpoint, self._is_saved = value, True

    async def _wait_children(self, timeout_s: float | None) -> "list[Job]":
        deadline_s = None if timeout_s is None else monotonic() + timeout_s
        while True:
            await self._hand.wait(0)  # before the look, so that nothing comes between the two
            children = await self._hand.children()
            left = [job for job in children if not job.is_ended]
            if not left:
                return children
            if deadline_s is not None and monotonic() >= deadline_s:
                raise WaitTimedOut(left[0].id, left[0].state, timeout_s or 0)
            self.check()
            await self._hand.wait(WAIT_S)


def _blocking(work: Coroutine[Any, Any, Result], twin: str) -> Result:
    """In a handler that may be blocked. On the event loop all others would stand still, so its twin is named."""
    if not is_blocking():
        work.close()
        message = "this call would block the event loop, and every handler on it"
        raise InvalidArgument(f"{message}; in an async handler await ctx.{twin}(…) instead", code="blocking_call")
    return blocking(work)
