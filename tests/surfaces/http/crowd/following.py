"""One reader of live events over HTTP, as any program would write it: it remembers the last id, and goes on from it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Final

import aiohttp
import msgspec

from tests.store.processes.tailing import Seen

LAST: Final = "last-of-"  # and the queue: the id of the last job that is made there


class _Told(msgspec.Struct):
    id: str
    job_id: str
    rev: int


_told: Final = msgspec.json.Decoder(_Told)


class Reader:
    """`begun` is how often it asked. `cuts`: how often it was sent away as too slow; `breaks`: without a word."""

    def __init__(self, session: aiohttp.ClientSession, queue: str, manner: str) -> None:
        self.queue = queue
        self.manner = manner
        self.seen: Seen = []
        self.last_id: str | None = None
        self.begun = self.cuts = self.breaks = 0
        self.has_begun = asyncio.Event()
        self._session = session
        self._last_job = f"{LAST}{queue}"
        self._grown = asyncio.Condition()

    @property
    def is_done(self) -> bool:
        return bool(self.seen) and self.seen[-1][2] == self._last_job

    async def follow(self, events_max: int | None = None) -> None:
        """As long as the service lets it, and until it has seen so many, if that is said; then it just goes away."""
        async with self.asked() as response:
            await self.listen(response, events_max)

    @asynccontextmanager
    async def asked(self) -> AsyncIterator[aiohttp.ClientResponse]:
        """From here on the service has events for it, whether it reads them or not."""
        self.begun += 1
        headers = {} if self.last_id is None else {"Last-Event-ID": self.last_id}
        async with self._session.get("/v1/events", params={"queue": self.queue}, headers=headers) as response:
            assert response.status == 200, f"{response.status} {await response.text()}"
            self.has_begun.set()
            yield response

    async def listen(self, response: aiohttp.ClientResponse, events_max: int | None = None) -> None:
        enough = None if events_max is None else len(self.seen) + events_max
        async with aclosing(self._blocks(response)) as blocks:
            async for block in blocks:
                self._take(block)
                if self.is_done or len(self.seen) == enough:
                    response.close()
                    break
        async with self._grown:
            self._grown.notify_all()

    async def until(self, events: int) -> None:
        """Wait until it has seen so many, or the last."""
        async with self._grown:
            await self._grown.wait_for(lambda: len(self.seen) >= events or self.is_done)

    async def _blocks(self, response: aiohttp.ClientResponse) -> AsyncGenerator[bytes]:
        """What is not ended by an empty line did not arrive."""
        kept = b""
        try:
            async for part in response.content.iter_any():
                *blocks, kept = (kept + part).split(b"\n\n")
                for block in blocks:
                    yield block
                async with self._grown:
                    self._grown.notify_all()
        except (aiohttp.ClientError, ConnectionError):
            self.breaks += 1

    def _take(self, block: bytes) -> None:
        """The id holds also where nothing is told: so it is with every reader of such streams."""
        for line in block.split(b"\n"):
            name, _, value = line.partition(b": ")
            if name == b"id":
                self.last_id = value.decode()
            elif name == b"data":
                told = _told.decode(value)
                self.seen.append((self.last_id or "", told.id, told.job_id, told.rev))
            elif name == b"" and value == b"slow":
                self.cuts += 1
