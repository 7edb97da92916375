"""What a context asks of its worker, where a pipe is between them."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from typing import Any, Final

from detent.client import Codec, Job
from detent.errors import Cancelled, InvalidArgument, LeaseLost, Stopped, StoreError
from detent.kernel.command import Complete
from detent.kernel.job import Progress
from detent.runtime.artifacts import Artifact
from detent.runtime.messages import Answer, Question, Said, Task, Told
from detent.store import Reply, Request
from detent.store.protocol import Transaction
from detent.store.waiting import is_blocking, sleep

_ERRORS: Final[dict[str, type[Stopped]]] = {each.__name__: each for each in (Stopped, Cancelled, LeaseLost)}
POLL_S: Final = 0.1


class PipeHand:
    """`luggage` is what the worker gave along: `connect`, for completions in a transaction, and `resolver`."""

    def __init__(self, task: Task, say: Callable[[Any], None], luggage: dict[str, Any]) -> None:
        self._task = task
        self._say = say
        self._luggage = luggage
        self._codec = Codec()
        self._numbers = count()
        self._questions: dict[int, Future[Any]] = {}
        self.told: Told | None = None

    @property
    def job(self) -> Job:
        return Job(self._task.job, self._codec)

    def stopped(self) -> Stopped | None:
        return None if self.told is None else _ERRORS[self.told.kind](self.told.message)

    def tell(self, progress: Progress) -> None:
        self._say(Said(progress=progress))

    def save(self, value: Any) -> None:
        """Looked at here, where the handler can hear of it; kept over there, by the worker's own codec."""
        self._codec.encode(value, "checkpoint")
        self._say(Said(checkpoint=(value,)))

    async def flush(self) -> None:
        await self._ask("flush")

    async def artifact(self, artifact: Artifact) -> None:
        await self._ask("artifact", artifact)

    async def children(self) -> list[Job]:
        return [Job(record, self._codec) for record in await self._ask("children")]

    async def wait(self, timeout_s: float) -> None:
        await sleep(min(timeout_s, POLL_S))

    async def complete(self, result: Any, tx: Transaction | None) -> None:
        """By a client of this process's own: a transaction cannot be handed to another one."""
        connect = self._luggage.get("connect")
        if connect is None:
            message = (
                "this worker's way to connect cannot be sent to a child process; complete it from a thread instead"
            )
            raise InvalidArgument(message, code="bad_transaction")
        job, worker = self._task.job, self._task.worker
        self._say(Said(is_completing=True))
        encoded = self._codec.encode(result, "result")
        async with connect() as client:
            lifecycle = await client.lifecycle(job.spec.lifecycle, job.spec.lifecycle_version)
            (now,) = await client.store.get(client.tenant, [job.id])
            rev = now.rev if now is not None and lifecycle.requires_rev else None
            command = Complete(worker=worker, attempt=job.attempt, expected_rev=rev, result=encoded)
            (reply,) = await client.store.apply([Request(client.tenant, job.id, command)], tx)
        if not isinstance(reply, Reply):
            raise reply if isinstance(reply, StoreError) else LeaseLost(str(reply))

    def resolve(self, pointer: str) -> Any:
        resolver = self._luggage.get("resolver")
        if resolver is None:
            raise InvalidArgument("no resolver was configured that can be sent to a child process")
        return resolver(pointer)

    def answered(self, answer: Answer) -> None:
        """On the listener's thread."""
        future = self._questions.pop(answer.number, None)
        if future is None:
            return
        if answer.fault is not None:
            lost = "LeaseLost" in answer.fault.names
            future.set_exception((LeaseLost if lost else InvalidArgument)(answer.fault.message))
        else:
            future.set_result(answer.value)

    async def _ask(self, what: str, artifact: Artifact | None = None) -> Any:
        number, future = next(self._numbers), Future[Any]()
        self._questions[number] = future
        self._say(Question(number, what, artifact))
        return future.result() if is_blocking() else await asyncio.wrap_future(future)
