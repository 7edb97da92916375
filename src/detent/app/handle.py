"""A job that was made, from outside: look at it, wait for it, stop it. Each method has a twin that is awaited."""

from collections.abc import Iterable
from typing import Any, Final, Generic, TypeVar

from detent.app.clients import Clients
from detent.app.payload import Result
from detent.app.twins import twin
from detent.client import Event, Job
from detent.client.sync import run
from detent.client.tree import children_of
from detent.errors import JobFailed
from detent.kernel.change import Answer
from detent.lifecycle.bounds import check_at_least
from detent.store.waiting import now_s

Returned_co = TypeVar("Returned_co", covariant=True)
ANYTHING: Final = Result("", Any)


class JobHandle(Generic[Returned_co]):
    """It knows the job's id, and asks the store for everything else, each time.

    `answer` is how the enqueue was answered: "applied"; "duplicate", if the dedupe key has a live job, which this is;
    "repeat" of a request id. On an event loop use the methods that begin with an a.
    """

    def __init__(
        self, clients: Clients, job_id: str, *, tenant: str, result: Result = ANYTHING, answer: Answer = "applied"
    ) -> None:
        self._clients = clients
        self._result = result
        self.id = job_id
        self.tenant = tenant
        self.answer = answer

    async def ajob(self) -> Job:
        """The job as it is now."""
        return await (await self._clients.of(self.tenant)).get(self.id)

    async def astate(self) -> str:
        """Where it is now, in the words of its lifecycle; `state` on a handle without an event loop."""
        return (await self.ajob()).state

    async def await_end(self, timeout_s: float | None = None) -> Job:
        """The job once it has ended, however it did. After `timeout_s`: `WaitTimedOut`, which is a TimeoutError too."""
        return await (await self._clients.of(self.tenant)).wait(self.id, timeout_s=timeout_s)

    async def aresult(self, timeout_s: float | None = None) -> Returned_co:
        """What the job returned, in the type that its function declares. It waits for the end, as `wait` does.

        A job that ended otherwise raises `JobFailed`, which has its error.
        """
        job = await self.await_end(timeout_s)
        if job.outcome != "success":
            raise _failed(job)
        returned: Returned_co = self._result.from_json(job.result)
        return returned

    async def acancel(self, mode: str = "soft", *, reason: str | None = None, actor: str | None = None) -> Job:
        """Stop it: softly, so that it may finish within its grace, or hard, at once."""
        client = await self._clients.of(self.tenant)
        return await client.cancel(self.id, mode=mode, reason=reason, actor=actor)

    async def ahistory(self) -> list[Event]:
        """Every move of it so far, in order."""
        return await (await self._clients.of(self.tenant)).history(self.id)

    async def achildren(self) -> "list[JobHandle[Any]]":
        """The jobs that name it as their parent, in the order of their steps, else of their making."""
        client = await self._clients.of(self.tenant)
        found = await children_of(client, self.id)
        return [JobHandle(self._clients, job.id, tenant=self.tenant) for job in found]

    job = twin(ajob)
    wait = twin(await_end)
    result = twin(aresult)
    cancel = twin(acancel)
    history = twin(ahistory)
    children = twin(achildren)

    @property
    def state(self) -> str:
        """Where it is now, in the words of its lifecycle."""
        return self.job().state

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JobHandle) and (other.tenant, other.id) == (self.tenant, self.id)

    def __hash__(self) -> int:
        return hash((self.tenant, self.id))

    def __repr__(self) -> str:
        return f"<JobHandle {self.id}>"


async def await_all(handles: Iterable[JobHandle[Any]], *, timeout_s: float | None = None) -> list[Job]:
    """The jobs, once all of them have ended, however they did; `timeout_s` is for all of them together."""
    if timeout_s is not None:
        check_at_least("timeout_s", timeout_s, 0)
    deadline_s = None if timeout_s is None else now_s() + timeout_s
    return [
        await handle.await_end(None if deadline_s is None else max(deadline_s - now_s(), 0)) for handle in list(handles)
    ]


def wait_all(handles: Iterable[JobHandle[Any]], *, timeout_s: float | None = None) -> list[Job]:
    """As `await_all`, blocking."""
    return run(await_all(handles, timeout_s=timeout_s))


def _failed(job: Job) -> JobFailed:
    error = job.error
    said = "" if error is None else f": {error.type}: {error.message}"
    return JobFailed(job.id, state=job.state, outcome=job.outcome, error=error, said=said)
