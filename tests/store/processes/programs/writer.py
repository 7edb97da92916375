"""A writer that is there to be killed. It says what it is about to ask, and then what it was answered.

What was asked and never answered is in doubt; the next writer is told of it and asks it again, as a client would.
"""

import asyncio
import time
from collections.abc import Sequence
from random import Random
from typing import Any

from msgspec import Struct

import detent
from detent import DetentError, Refused
from detent.client import Client, Codec, Job
from detent.kernel.digest import digest
from tests.store.processes.programs.speaking import given, hear, tell

LEASE = {"lease_s": 0.3, "allow_unusual_lease": True}
LARGE = 20_000  # more than a session remembers of one payload
EFFECTS = "create table if not exists effects (job_id text primary key, attempt integer not null)"


class Given(Struct):
    url: str
    name: str
    seed: int


Item = dict[str, Any]  # a verb and its arguments
Answered = Job | list[Job] | DetentError


class Writer:
    def __init__(self, client: Client, asked: Given) -> None:
        self._client = client
        self._name = asked.name
        self._random = Random(asked.seed)
        self._codec = Codec()
        self._asked = self._requests = 0
        self._held: list[Job] = []

    async def repeat(self, in_doubt: list[list[Item]]) -> None:
        """What another writer asked, word for word; new jobs that were asked for together, together again."""
        for items in in_doubt:
            if all(item["verb"] == "enqueue" for item in items):
                await self._enqueue(items)
            else:
                for item in items:
                    await self._one(item)

    async def step(self) -> None:
        steps = (self._single, self._crowd, self._batch, self._claim, self._finish, self._finish_many, self._together)
        await self._random.choices(steps, (6, 2, 1, 3, 8, 2, 2))[0]()
        if self._random.random() < 0.1:
            await self._client.reconcile(limit=100)

    async def _single(self) -> None:
        await self._one(self._new())

    async def _crowd(self) -> None:
        """Callers at once, each by itself: they share transactions, but each is answered alone."""
        await asyncio.gather(*(self._one(self._new()) for _ in range(12)))

    async def _batch(self) -> None:
        await self._enqueue([self._new() for _ in range(self._random.choice((5, 5, 60)))])

    async def _enqueue(self, items: list[Item]) -> None:
        await self._ask(items, lambda: self._client.enqueue_many([_arguments(item) for item in items]))

    async def _claim(self) -> None:
        limit, start = self._random.randint(1, 8), self._random.random() < 0.8
        arguments = {"worker": self._name, "limit": limit, "start": start, "request_id": self._request_id()} | LEASE
        (jobs,) = await self._one({"verb": "claim", "arguments": arguments})
        self._held += jobs if isinstance(jobs, list) else []

    async def _finish(self) -> None:
        """Something about a job that it holds."""
        if self._held:
            job = self._held.pop()
            verbs = ("complete", "complete", "fail", "release", "cancel", "renew")
            await self._one(self._about(job, self._random.choice(verbs) if job.phase == "active" else "start"))

    async def _finish_many(self) -> None:
        held, self._held = self._held, []
        items = [self._about(job, "complete") for job in held if job.phase == "active"]
        if items:
            await self._ask(items, lambda: self._client.complete_many([_arguments(item) for item in items]))

    async def _together(self) -> None:
        """In a transaction of its own: a new job, a job done, and the effect of it in another table."""
        new, done = self._new(), self._about(self._held.pop(), "complete") if self._held else None
        items = [new] if done is None else [new, done]

        async def transact() -> list[Any]:
            async with self._client.transaction() as tx:
                answers: list[Any] = [await self._client.enqueue(**_arguments(new), tx=tx)]
                if done is not None:
                    answers.append(await _or_error(self._client.complete(**_arguments(done), tx=tx)))
                    if isinstance(answers[-1], Job):
                        tx.execute(EFFECTS)
                        tx.execute("insert into effects values (?, ?)", (answers[-1].id, answers[-1].attempt))
                return answers

        await self._ask(items, transact)

    async def _one(self, item: Item) -> Sequence[Answered]:
        async def call() -> list[Any]:
            return [await _or_error(getattr(self._client, item["verb"])(**_arguments(item)))]

        return await self._ask([item], call)

    async def _ask(self, items: list[Item], call: Any) -> Sequence[Answered]:
        self._asked += 1
        number = self._asked
        tell(asked=number, at=time.monotonic_ns(), items=items)
        answers: list[Answered] = await call()
        tell(answered=number, at=time.monotonic_ns(), answers=[_told(answer) for answer in answers])
        return answers

    def _new(self) -> Item:
        self._requests += 1
        fill = self._random.choice(("", "", "", "x" * LARGE)) if self._requests % 4 == 0 else ""
        payload = {"of": self._name, "number": self._requests, "fill": fill}
        arguments = {"kind": "k", "payload": payload, "request_id": self._request_id()}
        return {"verb": "enqueue", "arguments": arguments, "payload_digest": digest(self._codec.encode(payload))}

    def _about(self, job: Job, verb: str) -> Item:
        arguments: dict[str, Any] = {"job_id": job.id, "worker": self._name, "attempt": job.attempt}
        arguments |= {"expected_rev": job.rev, "request_id": self._request_id()}
        if verb == "complete":
            arguments["result"] = {"by": self._name}
        if verb == "fail":
            arguments["error"] = {"type": "PermanentError", "message": "never"}
        return {"verb": verb, "arguments": arguments}

    def _request_id(self) -> str:
        return f"{self._name}/{self._random.getrandbits(64):x}"


def _arguments(item: Item) -> dict[str, Any]:
    arguments: dict[str, Any] = item["arguments"]
    return arguments


async def _or_error(answer: Any) -> Answered:
    try:
        answered: Answered = await answer
    except Refused as refused:
        return refused
    return answered


def _told(answer: Answered) -> dict[str, Any]:
    if isinstance(answer, Refused):
        return {"refused": answer.code}
    if isinstance(answer, DetentError):
        return {"failed": str(answer)}
    jobs = answer if isinstance(answer, list) else [answer]
    return {"jobs": [(job.id, job.rev, job.state) for job in jobs]}


async def main() -> None:
    asked = given(Given)
    tell(here=True)
    in_doubt = hear()["in_doubt"]
    async with detent.connect(asked.url) as client:
        writer = Writer(client, asked)
        await writer.repeat(in_doubt)
        while True:
            await writer.step()


asyncio.run(main())
