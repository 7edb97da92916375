"""A service that is restarted again and again, and those who follow it: some slow, some fickle, all with filters."""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Final

from detent.client import Client
from detent.errors import ServiceError
from detent.kernel import Event
from detent.store import EventQuery
from detent.store.query import PAGE_MAX
from detent.surfaces.http.live import Ended, Filters, Hub, Item, LiveSettings, Reader

# Small, so that readers fall behind, leave the ring and read the store all the time.
TIGHT: Final = LiveSettings(
    ring_max=60, buffer_max=4, specs_max=10, page_max=7, reads_max=4, wait_s=0.05, pause_s=0.002, linger_s=0.01
)
# Readers come to the end of the log before the service is restarted, and meet its tail there.
ROOMY: Final = LiveSettings(ring_max=500, buffer_max=4, page_max=200, wait_s=0.05, pause_s=0.002)
TYPES: Final = ("job_enqueued", "job_claimed", "job_started", "job_succeeded")
RESTART_S: Final = {TIGHT: 0.15, ROOMY: 0.3}
QUIET_S: Final = 0.2  # in which a double would have come


class Service:
    """One hub after the other, of one tenant."""

    def __init__(self, client: Client, settings: LiveSettings) -> None:
        self._client, self._settings = client, settings
        self.hub = self._made()
        self.restarts = 0

    async def restart(self) -> None:
        old, self.hub = self.hub, self._made()
        await old.close()
        self.restarts += 1

    async def restart_for_ever(self) -> None:
        while True:
            await asyncio.sleep(RESTART_S[self._settings])
            await self.restart()

    def _made(self) -> Hub:
        return Hub(self._client.store, self._client.tenant, settings=self._settings)


class Follower:
    """It resumes by its last cursor, whatever has ended its stream: itself, the service, or its slowness."""

    def __init__(self, service: Service, name: str, queues: Sequence[str], start: str) -> None:
        self._service = service
        self._random = Random(name)
        self._cursor = start
        self.filters = self._chosen(queues)
        self.seen: list[Event] = []
        self.ends: list[str] = []

    async def follow(self) -> None:
        while True:
            try:
                async with self._service.hub.reader(self.filters, after=self._cursor) as reader:
                    while not isinstance(batch := await self._batch(reader), Ended):
                        if await self._accepted(batch, reader.cursor):
                            break
                    else:
                        self.ends.append(batch.reason)
                        self._check(batch)
            except ServiceError:
                await asyncio.sleep(0)

    async def _batch(self, reader: Reader) -> list[Item] | Ended:
        timeout_s, items_max = self._random.choice((0.0, 0.01, 0.05)), self._random.choice((1, 5, 64))
        await asyncio.sleep(0)  # as it would while it sends
        return await reader.batch(timeout_s, items_max=items_max)

    async def _accepted(self, batch: list[Item], cursor: str) -> bool:
        """Whether it has had enough. Of a batch some may be lost on their way when it leaves."""
        has_enough = self._random.random() < 0.05
        kept = batch[: self._random.randint(0, len(batch))] if has_enough else batch
        self.seen += [item.event for item in kept]
        if kept:
            self._cursor = kept[-1].cursor
        if len(kept) == len(batch) and self._random.random() < 0.5:
            self._cursor = cursor  # as heartbeats tell it
        if self._random.random() < 0.1:
            await asyncio.sleep(self._random.random() * 0.1)  # slow
        return has_enough

    def _check(self, end: Ended) -> None:
        """The service says where to go on; the client knows only the last cursor it has got. Either must do."""
        if self._random.random() < 0.5:
            self._cursor = end.cursor

    def _chosen(self, queues: Sequence[str]) -> Filters:
        queue, type_ = self._random.choice(queues), self._random.choice(TYPES)
        return self._random.choice(
            (
                Filters(),
                Filters(queue=queue),
                Filters(queue=queue),
                Filters(type=type_),
                Filters(queue=queue, type=type_),
                Filters(kind="scan", verb="claim"),
                Filters(kind="other"),
            )
        )


async def whole_log(client: Client, start: str, filters: Filters) -> list[str]:
    """What the store itself finds, filtered by the store."""
    given = {name: getattr(filters, name) for name in filters.__struct_fields__}
    query = EventQuery(tenant=client.tenant, **given)
    page = await client.store.events(query, PAGE_MAX, start)
    found = [entry.event.id for entry in page.items]
    while len(page.items) == PAGE_MAX:
        page = await client.store.events(query, PAGE_MAX, page.cursor)
        found += [entry.event.id for entry in page.items]
    return found


async def all_has_come(client: Client, followers: Sequence[Follower], start: str, within_s: float) -> None:
    """When writing is over: until nobody can be waiting for anything, and a little longer."""
    expected = [len(await whole_log(client, start, follower.filters)) for follower in followers]
    deadline_s = asyncio.get_running_loop().time() + within_s
    while any(len(each.seen) < count for each, count in zip(followers, expected, strict=True)):
        if asyncio.get_running_loop().time() > deadline_s:
            return  # who compares says what is missing
        await asyncio.sleep(0.01)
    await asyncio.sleep(QUIET_S)


async def check(client: Client, follower: Follower, start: str) -> None:
    """Each event once, and each job in the order of its revisions."""
    ids, expected = [event.id for event in follower.seen], await whole_log(client, start, follower.filters)
    missing, foreign = set(expected) - set(ids), set(ids) - set(expected)
    assert not missing, f"{follower.filters} has missed {sorted(missing)[:5]} of {len(expected)}"
    assert not foreign, f"{follower.filters} was given {sorted(foreign)[:5]}"
    assert len(ids) == len(set(ids)), f"{follower.filters} was given some twice: {len(ids)} instead of {len(expected)}"
    revs: dict[str, int] = {}
    for event in follower.seen:
        assert event.rev > revs.get(event.job_id, 0)
        revs[event.job_id] = event.rev
