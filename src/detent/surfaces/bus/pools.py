"""Who serves which topic, how busy they are, and for how many more jobs they have room.

It is kept with the store's other workers, so that everybody sees them, on whichever machine: one by one those that say
something of themselves, and as a whole, under the name of its topic, a pool whose workers say nothing.
"""

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic
from typing import Final

from detent.client import Client
from detent.client.workers import Worker
from detent.errors import InvalidArgument
from detent.store import JobQuery
from detent.store.fleet import BUS_HOST, REPORT_S, WORKER_KEPT_S, WORKERS_MAX
from detent.surfaces.bus.link import Link
from detent.surfaces.bus.members import Member, Members
from detent.surfaces.bus.missing import Missing
from detent.surfaces.bus.packets import NEWS, read
from detent.surfaces.bus.settings import IN_FLIGHT_MOST
from detent.surfaces.bus.silent import Absent, Answers
from detent.surfaces.bus.subjects import HANDSHAKE, HEARTBEAT

log: Final = logging.getLogger("detent.bus")


class Pools:
    def __init__(self, client: Client, link: Link, clock: Callable[[], float] = monotonic) -> None:
        self._client = client
        self._link = link
        self._clock = clock
        self._members = Members(link.topics, clock)
        self._missing: dict[str, Missing] = {}
        self._answers = Answers(clock)
        self._absent = Absent(clock)
        self._silent: dict[str, Member] = {}

    async def open(self) -> None:
        """A worker greets once, maybe before this service was there: another one may have kept what it said."""
        self._absent.clear()
        for each in await self._client.workers(within_s=WORKER_KEPT_S):
            if each.host == BUS_HOST and each.queues != (each.name,):  # that is a pool, and no worker
                self._members.recall(self._recalled(each))
        await self._link.hear(HEARTBEAT, self._heard)
        await self._link.hear(HANDSHAKE, self._heard)

    def _recalled(self, kept: Worker) -> Member:
        ago_s = (datetime.now(UTC) - kept.seen_at).total_seconds()
        return Member(
            kept.name, kept.started_at, kept.queues, kept.slots, kept.running, kept.version,
            seen_s=self._clock() - max(ago_s, 0.0), reported_s=self._clock(),
        )  # fmt: skip

    async def _heard(self, data: bytes) -> None:
        try:
            packet = read(data, self._link.keys)
        except InvalidArgument as wrong:
            log.debug("%s", wrong)
            return
        if packet.kind in NEWS and packet.sender_id != self._link.settings.name:
            for topic in self._members.hear(packet).topics:
                self._absent.discard(topic)

    def answered(self, topic: str, worker: str) -> None:
        """A result came."""
        self._answers.heard(topic, worker)

    # -- who is there, with how much room

    async def room(self, topic: str) -> int:
        """How many more jobs its pool may have."""
        in_flight = await self._in_flight(topic)
        missing = min(self._missing_of(topic, in_flight), self._members.lost_most(topic))
        return self._room_in_all(topic) - in_flight + missing

    def _room_in_all(self, topic: str) -> int:
        """What its workers have slots for, and one more for each, which is there when they are ready for it. A pool
        that says nothing of itself has the number that is set, or one that grows with who answers.
        """
        room = sum(each.slots + 1 for each in self._members.of(topic))
        room = room or self._link.settings.in_flight_max or self._answers.room(topic)
        return min(room, IN_FLIGHT_MOST)  # whatever somebody says that it could do

    def _missing_of(self, topic: str, in_flight: int) -> int:
        busy = self._members.busy(topic)
        if busy is None:
            self._missing.pop(topic, None)
            return 0
        return self._missing.setdefault(topic, Missing()).look(max(in_flight - busy, 0), self._clock())

    async def _in_flight(self, topic: str) -> int:
        counted = await self._client.store.count(JobQuery(tenant=self._client.tenant, owner=topic), ())
        return sum(counted.values())

    def is_absent(self, topic: str) -> bool:
        """Nobody served it a moment ago."""
        return topic in self._absent

    async def is_served(self, topic: str) -> bool:
        """The bus knows who has subscribed, also those who never say so; and at this moment, not a while ago."""
        if not await self._link.is_served(topic):
            self._absent.add(topic)
            return False
        self._absent.discard(topic)
        self._remember(topic)
        return True

    def _remember(self, topic: str) -> None:
        if topic not in self._silent and len(self._silent) < WORKERS_MAX and not self._members.of(topic):
            self._silent[topic] = Member(topic, datetime.now(UTC), (topic,))

    # -- what everybody can see of them

    async def report(self) -> None:
        """Those that were heard of since they were last reported. Others are gone from the list by themselves."""
        for each in self._members:
            if each.is_to_be_reported(self._clock()):
                await self._report(each)
        for each in list(self._silent.values()):
            if each.reported_s + REPORT_S <= self._clock():
                await self._report_silent(each)

    async def _report_silent(self, pool: Member) -> None:
        """As long as somebody serves it, and says nothing."""
        if self._members.of(pool.name) or not await self.is_served(pool.name):
            del self._silent[pool.name]
            return
        pool.slots, pool.running = self._room_in_all(pool.name), await self._in_flight(pool.name)
        await self._report(pool)

    async def _report(self, each: Member) -> None:
        each.reported_s = self._clock()
        try:
            await self._client.report_worker(
                each.name, host=BUS_HOST, pid=0, started_at=each.since, queues=each.topics, slots=each.slots,
                running=min(each.running, each.slots), version=each.version,
            )  # fmt: skip
        except InvalidArgument as wrong:  # a name that cannot be kept; others need not suffer
            log.debug("a worker cannot be listed: %s", wrong)
