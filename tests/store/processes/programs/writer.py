"""A writer that is there to be killed, or to live through outages. It says what it asks, and what it was answered.

What was asked and never answered is in doubt; the next writer is told of it and asks it again, as a client would.
"""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

from msgspec import Struct

import detent
from detent.client import Client, Codec, Job
from detent.kernel.digest import digest
from tests.store.processes.programs.asking import LOST, Answered, Asker, Item, arguments_of, or_refusal
from tests.store.processes.programs.speaking import given, hear, tell
from tests.store.processes.transactions import note_effect, transaction

LARGE = 20_000  # more than a session remembers of one payload


class Given(Struct):
    url: str
    name: str
    seed: int
    lease_s: float
    jobs: int | None = None  # to be made by this one, which then works until nothing is left; None: until it is killed
    plain: float = 0.0  # which part of the calls has no request id, so that nothing is remembered of them


class Writer:
    def __init__(self, client: Client, asked: Given) -> None:
        self._client = client
        self._given = asked
        self._name = asked.name
        self._random = Random(asked.seed)
        self._codec = Codec()
        self._asker = Asker()
        self._made = 0
        self._held: list[Job] = []
        self._is_idle = False

    @property
    def is_done(self) -> bool:
        return self._has_made_all and self._is_idle and not self._held and not self._asker.in_doubt

    async def repeat(self, in_doubt: list[list[Item]]) -> None:
        """What another writer asked, word for word; new jobs that were asked for together, together again."""
        for items in in_doubt:
            if all(item["verb"] == "enqueue" for item in items):
                await self._enqueue(items)
            else:
                for item in items:
                    await self._one(item)

    async def step(self) -> None:
        in_doubt, self._asker.in_doubt = self._asker.in_doubt, []
        await self.repeat(in_doubt)
        makes, others = (self._single, self._crowd, self._batch, self._together), (self._claim, self._finish_many)
        steps, weights = ((), ()) if self._has_made_all else (makes, (6, 2, 1, 2))
        await self._random.choices((*steps, *others, self._finish), (*weights, 3, 2, 8))[0]()
        if self._random.random() < 0.1:
            await self._reconcile()

    @property
    def _has_made_all(self) -> bool:
        return self._given.jobs is not None and self._made >= self._given.jobs

    async def _single(self) -> None:
        await self._one(self._new())

    async def _crowd(self) -> None:
        """Callers at once, each by itself: they share transactions, but each is answered alone."""
        await asyncio.gather(*(self._one(self._new()) for _ in range(12)))

    async def _batch(self) -> None:
        await self._enqueue([self._new() for _ in range(self._random.choice((5, 5, 60)))])

    async def _enqueue(self, items: list[Item]) -> None:
        await self._asker.ask(items, lambda: self._client.enqueue_many([arguments_of(item) for item in items]))

    async def _claim(self) -> None:
        limit, start = self._random.randint(1, 8), self._random.random() < 0.8
        arguments = {"worker": self._name, "limit": limit, "start": start, "lease_s": self._given.lease_s}
        arguments |= {"allow_unusual_lease": True, "request_id": self._request_id()}
        for jobs in await self._one({"verb": "claim", "arguments": arguments}):
            self._is_idle = not jobs
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
            await self._asker.ask(items, lambda: self._client.complete_many([arguments_of(item) for item in items]))

    async def _together(self) -> None:
        """In a transaction of its own: a new job, a job done, and the effect of it in another table."""
        new, done = self._new(), self._about(self._held.pop(), "complete") if self._held else None
        items = [new] if done is None else [new, done]

        async def transact() -> list[Any]:
            async with transaction(self._client, self._given.url) as tx:
                answers: list[Any] = [await self._client.enqueue(**arguments_of(new), tx=tx)]
                if done is not None:
                    answers.append(await or_refusal(self._client.complete(**arguments_of(done), tx=tx)))
                    if isinstance(answers[-1], Job):
                        await note_effect(tx, answers[-1].id, answers[-1].attempt)
                return answers

        await self._asker.ask(items, transact)

    async def _reconcile(self) -> None:
        try:
            await self._client.reconcile(limit=100)
        except detent.StoreError as error:
            if error.code not in LOST:
                raise

    async def _one(self, item: Item) -> Sequence[Answered]:
        async def call() -> list[Answered]:
            return [await or_refusal(getattr(self._client, item["verb"])(**arguments_of(item)))]

        return await self._asker.ask([item], call)

    def _new(self) -> Item:
        self._made += 1
        fill = self._random.choice(("", "", "", "x" * LARGE)) if self._made % 4 == 0 else ""
        payload = {"of": self._name, "number": self._made, "fill": fill}
        arguments = {"kind": "k", "payload": payload} | self._named()
        return {"verb": "enqueue", "arguments": arguments, "payload_digest": digest(self._codec.encode(payload))}

    def _about(self, job: Job, verb: str) -> Item:
        arguments: dict[str, Any] = {"job_id": job.id, "worker": self._name, "attempt": job.attempt}
        arguments |= {"expected_rev": job.rev} | self._named()
        if verb == "complete":
            arguments["result"] = {"by": self._name}
        if verb == "fail":
            arguments["error"] = {"type": "PermanentError", "message": "never"}
        return {"verb": verb, "arguments": arguments}

    def _named(self) -> dict[str, str]:
        is_plain = self._given.plain and self._random.random() < self._given.plain
        return {} if is_plain else {"request_id": self._request_id()}

    def _request_id(self) -> str:
        return f"{self._name}/{self._random.getrandbits(64):x}"


async def main() -> None:
    asked = given(Given)
    tell(here=True)
    in_doubt = hear()["in_doubt"]
    async with detent.connect(asked.url) as client:
        writer = Writer(client, asked)
        await writer.repeat(in_doubt)
        while not writer.is_done:
            await writer.step()


asyncio.run(main())
