"""What the contract's scenarios work with: a store under test, a client, a clock, and a look at all that is kept."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypedDict

from detent.client import Client, Codec, Job
from detent.errors import DetentError, Refused
from detent.kernel import parse
from detent.lifecycle import Lifecycle
from detent.lifecycles import BUILT_IN
from detent.store import Replies, Request, Store, Story
from detent.store.clock import Clock, Random
from detent.testing.clock import VirtualClock

TRANSIENT: Final = {"type": "TransientError", "message": "no luck"}
PERMANENT: Final = {"type": "PermanentError", "message": "never"}
STORIES_MAX: Final = 1_000
WAIT_S: Final = 5.0  # for what another task is to do; a store that has lost it is found out after this


class Bench:
    """`client` is that of tenant `default`; time stands still unless a scenario lets it pass."""

    def __init__(self, store: Store, clock: VirtualClock) -> None:
        self.store = store
        self.clock = clock
        self.client = self._client("default")

    async def tenant(self, name: str) -> Client:
        client = self._client(name)
        await client.open()
        return client

    async def ready(self, lifecycle: str = "standard", **fields: Any) -> Job:
        """A job that can be claimed, whatever its lifecycle wants first."""
        given: dict[str, Any] = {"kind": "scan", "lifecycle": lifecycle, "submit": True} | fields
        job = await self.client.enqueue(**given)
        if lifecycle == "dispatch":
            return await self.client.schedule(job.id, verdict="allow", rule="default")
        return job

    async def claimed(self, lifecycle: str = "standard", *, worker: str = "w1", **fields: Any) -> Job:
        job = await self.ready(lifecycle, **fields)
        return await self._take(job, worker)

    async def running(self, lifecycle: str = "standard", *, worker: str = "w1", **fields: Any) -> Job:
        job = await self.ready(lifecycle, **fields)
        return await self._take(job, worker, start=True)

    async def succeeded(self, lifecycle: str = "standard", **fields: Any) -> Job:
        job = await self.running(lifecycle, **fields)
        return await self.client.complete(job.id, result={"pages": 3}, **fence(job))

    async def ask(self, verb: str, job_id: str, *, tenant: str = "default", **arguments: Any) -> Any:
        """One request, as the store answers it: a reply, or the error."""
        return (await self.store.apply([Request(tenant, job_id, parse(verb, arguments))]))[0]

    async def apply(self, *asked: tuple[str, str, dict[str, Any]]) -> Replies:
        """Requests of several verbs in one transaction."""
        return await self.store.apply([Request("default", id_, parse(verb, given)) for verb, id_, given in asked])

    async def told(self) -> list[Story]:
        """All that is kept of all jobs, so that a scenario can see whether anything changed."""
        return (await self.store.stories(None, STORIES_MAX)).items

    async def verbs(self, job_id: str) -> list[str]:
        return [event.verb for event in await self.client.history(job_id)]

    async def check(self) -> None:
        """What holds after every scenario: each record is what its log adds up to, by declared moves only."""
        report = await self.client.verify(all_tenants=True)
        assert report.is_clean, "\n".join(
            f"{each.invariant} {each.job_id}: {each.message}" for each in report.violations
        )
        replayed = await self.client.replay()
        assert replayed.is_same, replayed.differences

    async def _take(self, job: Job, worker: str, *, start: bool = False) -> Job:
        taken = await self.client.claim(worker=worker, queues=[job.queue], start=start)
        assert [each.id for each in taken] == [job.id], "a claim gets the one job that is due in its queue"
        return taken[0]

    def _client(self, tenant: str) -> Client:
        return Client(self.store, tenant=tenant, codec=Codec(), lifecycles=tuple(BUILT_IN.values()))


Scenario = Callable[[Any, Bench], Awaitable[None]]


class Contract:
    """The one hook, and how a scenario is played."""

    receipts_s: float = 86_400
    verbose_s: float = 3 * 86_400
    notes_max: int = 100

    def make_store(self, clock: Clock, random: Random) -> Store:
        """Give a new, empty store that takes its time and its random numbers from these."""
        raise NotImplementedError("say which store to test: override make_store")

    async def play(self, story: Scenario) -> None:
        clock = VirtualClock()
        bench = Bench(self.make_store(clock, lambda: 0.5), clock)
        await bench.client.open()
        try:
            await story(self, bench)
            await bench.check()
        finally:
            await bench.client.close()


def scenario(*requirements: str) -> Callable[[Scenario], Callable[[Any], None]]:
    """Make an asynchronous story a test that any runner can call. The ids it shows stay on it, as `requirements`."""

    def made(story: Scenario) -> Callable[[Any], None]:
        def test(self: Contract) -> None:
            asyncio.run(self.play(story))

        # No functools.wraps: a runner that looks through it would take `bench` for a fixture.
        test.__name__, test.__qualname__, test.__module__ = story.__name__, story.__qualname__, story.__module__
        test.__doc__ = story.__doc__
        setattr(test, "requirements", requirements)  # noqa: B010 - a function has no such attribute to type
        return test

    return made


class Fence(TypedDict):
    worker: str | None
    attempt: int
    expected_rev: int


def fence(job: Job) -> Fence:
    """What an owner names: itself, the attempt, the revision it knows."""
    return {"worker": job.owner or job.last_owner, "attempt": job.attempt, "expected_rev": job.rev}


async def refused(call: Awaitable[object], code: str) -> DetentError:
    try:
        answer = await call
    except DetentError as error:
        answer = error
    assert is_refused(answer, code), f"not refused as {code}, but answered with: {answer!r}"
    assert isinstance(answer, DetentError)
    return answer


def is_refused(answer: object, code: str) -> bool:
    return isinstance(answer, DetentError) and answer.code == code


def allowed(lifecycle: Lifecycle, answer: DetentError) -> bool:
    """Whether a refusal names the state and all that is allowed from it."""
    assert isinstance(answer, Refused)
    assert answer.state is not None
    return answer.allowed == lifecycle.table.allowed[answer.state]
