"""Jobs that the policy has let through are claimed for their pools: as many as a pool has room for, if it is there."""

from collections.abc import AsyncIterator
from typing import Final

from detent.client import Client
from detent.errors import StoreError
from detent.kernel import Job
from detent.kernel.command import Claim
from detent.store import Reply, Request
from detent.surfaces.bus.link import Link
from detent.surfaces.bus.pools import Pools
from detent.surfaces.bus.requests import LIFECYCLE
from detent.surfaces.looking import claimable_of

CLAIM_MAX: Final = 100  # at once


class Dispatcher:
    """The pool is the owner: it has the name of its topic."""

    def __init__(self, client: Client, link: Link, pools: Pools) -> None:
        self._client = client
        self._link = link
        self._pools = pools

    async def dispatch(self) -> AsyncIterator[list[Job]]:
        """Once through all topics in which something is ready, so that none waits for another to run dry. What was
        claimed is in the outbox by being so.
        """
        for topic in await self._client.store.oldest_ready(self._client.tenant):
            is_pool = topic in self._link.topics and not self._pools.is_absent(topic)
            if is_pool and (taken := await self._claim(topic)):
                yield taken

    async def _claim(self, topic: str) -> list[Job]:
        """One by one of those that can be published: a pool knows no other lifecycle. What somebody else was quicker
        to take is refused.
        """
        waiting = await self._waiting(topic, await self._pools.room(topic))
        if not waiting or not await self._pools.is_served(topic):
            return []
        command = Claim(worker=topic, role="scheduler", actor=self._link.settings.name)
        asked = [Request(self._client.tenant, job.id, command) for job in waiting]
        answers = await self._client.store.apply(asked)
        for answer in answers:
            if isinstance(answer, StoreError):
                raise answer
        return [answer.job for answer in answers if isinstance(answer, Reply)]

    async def _waiting(self, topic: str, room: int) -> list[Job]:
        if room <= 0:
            return []
        request = self._client.claim_request({"worker": topic}, queues=[topic], limit=min(room, CLAIM_MAX))
        return (await claimable_of(self._client.store, request, LIFECYCLE))[:room]
