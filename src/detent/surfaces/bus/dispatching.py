"""Jobs that the policy has let through are claimed for their pools: as many as a pool has room for, if it is there."""

from collections.abc import AsyncIterator
from typing import Final

from detent.client import Client
from detent.errors import DetentError
from detent.kernel import Job
from detent.store import JobQuery, Reply
from detent.surfaces.bus.link import Link
from detent.surfaces.bus.pools import Pools
from detent.surfaces.bus.requests import LIFECYCLE

CLAIM_MAX: Final = 100  # at once


class Dispatcher:
    """The pool is the owner: it has the name of its topic."""

    def __init__(self, client: Client, link: Link, pools: Pools) -> None:
        self._client = client
        self._link = link
        self._pools = pools

    async def dispatch(self) -> AsyncIterator[list[Job]]:
        """Once through all topics in which something is ready. What was claimed is in the outbox by being so."""
        for topic in await self._client.store.oldest_ready(self._client.tenant):
            if topic in self._link.topics and await self._pools.is_served(topic):
                while taken := await self._claim(topic):
                    yield taken

    async def _claim(self, topic: str) -> list[Job]:
        kinds = await self._kinds(topic)
        room = self._pools.room_for(topic) - await self._in_flight(topic)
        if room <= 0 or not kinds:
            return []
        asked = {"worker": topic, "role": "scheduler", "actor": self._link.settings.name}
        request = self._client.claim_request(asked, queues=[topic], kinds=kinds, limit=min(room, CLAIM_MAX))
        replies = await self._client.store.claim(request)
        for refused in replies:
            if isinstance(refused, DetentError):
                raise refused
        return [reply.job for reply in replies if isinstance(reply, Reply)]

    async def _kinds(self, topic: str) -> list[str]:
        """Of jobs that can be published: a pool knows no other lifecycle."""
        ready = JobQuery(tenant=self._client.tenant, lifecycle=LIFECYCLE, phase="ready", queue=topic)
        return [kind for (kind,) in await self._client.store.count(ready, ("kind",)) if kind is not None]

    async def _in_flight(self, topic: str) -> int:
        counted = await self._client.store.count(JobQuery(tenant=self._client.tenant, owner=topic), ())
        return sum(counted.values())
