"""Who serves which topic, by what workers say of themselves: their heartbeats, and what they greet with.

What they say is kept with the store's other workers, so that everybody sees them, on whichever machine.
"""

import logging
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final

from msgspec import Struct

from detent.client import Client
from detent.errors import InvalidArgument
from detent.lifecycle.bounds import NAME_CHARS_MAX
from detent.store.fleet import REPORT_S, SEEN_S
from detent.surfaces.bus.link import Link
from detent.surfaces.bus.packets import Packet, read
from detent.surfaces.bus.settings import IN_FLIGHT_MOST
from detent.surfaces.bus.subjects import HANDSHAKE, HEARTBEAT

WORKERS_MAX: Final = 10_000
TOPICS_MAX: Final = 100  # of one worker
SLOTS_MAX: Final = 10_000
SERVED_S: Final = 1.0  # for so long it is taken as said that a topic is served
_HOST: Final = "nats"
log: Final = logging.getLogger("detent.bus")


class Member(Struct):
    """A worker of a pool, as it was last heard of."""

    name: str
    since: datetime
    topics: tuple[str, ...] = ()
    slots: int = 1
    running: int = 0
    version: str = "cap"
    seen_s: float = 0.0
    reported_s: float = float("-inf")


class Pools:
    def __init__(self, client: Client, link: Link) -> None:
        self._client = client
        self._link = link
        self._members: dict[str, Member] = {}
        self._served: dict[tuple[str, int], float] = {}

    async def open(self) -> None:
        await self._link.hear(HEARTBEAT, self._heard)
        await self._link.hear(HANDSHAKE, self._heard)

    def room_for(self, topic: str) -> int:
        """How many jobs its pool may have at once: what its workers have slots for, and one more for each, which is
        there when they are ready for it. A pool that says nothing of itself has the number that is set.
        """
        members = [each for each in self._members.values() if topic in each.topics and _is_there(each)]
        room = sum(each.slots + 1 for each in members) or self._link.settings.in_flight_max
        return min(room, IN_FLIGHT_MOST)  # whatever somebody says that it could do

    async def is_served(self, topic: str) -> bool:
        """The bus knows who has subscribed, also those who never say so; and at this moment, not a while ago."""
        known = topic, self._link.connections  # what comes back to the bus does not come all at once
        if self._served.get(known, 0.0) > monotonic():
            return True
        is_served = await self._link.is_served(topic)
        self._served = {each: until_s for each, until_s in self._served.items() if until_s > monotonic()}
        if is_served:
            self._served[known] = monotonic() + SERVED_S
        return is_served

    async def _heard(self, data: bytes) -> None:
        try:
            packet = read(data, self._link.keys)
        except InvalidArgument as wrong:
            log.debug("%s", wrong)
            return
        if packet.kind not in ("heartbeat", "handshake") or packet.sender_id == self._link.settings.name:
            return
        member = self._member(packet)
        if member is not None:
            self._learn(member, packet.message)

    def _member(self, packet: Packet) -> Member | None:
        member = self._members.get(packet.sender_id)
        if member is None and len(self._members) < WORKERS_MAX:
            member = self._members[packet.sender_id] = Member(packet.sender_id, datetime.now(UTC))
        if member is not None:
            member.seen_s = monotonic()
        return member

    def _learn(self, member: Member, told: Any) -> None:
        """A greeting names topics; a heartbeat names a pool, which may be a topic, and says how busy the worker is."""
        if told.DESCRIPTOR.name == "Handshake":
            named = list(told.ready_topics[:TOPICS_MAX])
            member.version = told.sdk_version[:NAME_CHARS_MAX] or member.version
        else:
            named = [told.pool]
            member.slots = min(max(told.max_parallel_jobs, 1), SLOTS_MAX)
            member.running = min(max(told.active_jobs, 0), SLOTS_MAX)
        served = (topic for topic in named if len(topic) <= NAME_CHARS_MAX and topic in self._link.topics)
        known = dict.fromkeys((*member.topics, *served))
        member.topics = tuple(known)[-TOPICS_MAX:]

    async def report(self) -> None:
        """Those that were heard of since they were last reported. Others are gone from the list by themselves."""
        self._members = {name: each for name, each in self._members.items() if _is_there(each)}
        for each in list(self._members.values()):
            if each.seen_s > each.reported_s and each.reported_s + REPORT_S <= monotonic() and each.topics:
                each.reported_s = monotonic()
                await self._report(each)

    async def _report(self, each: Member) -> None:
        try:
            await self._client.report_worker(
                each.name, host=_HOST, pid=0, started_at=each.since, queues=each.topics, slots=each.slots,
                running=min(each.running, each.slots), version=each.version,
            )  # fmt: skip
        except InvalidArgument as wrong:  # a name that cannot be kept; others need not suffer
            log.debug("a worker cannot be listed: %s", wrong)


def _is_there(member: Member) -> bool:
    return monotonic() - member.seen_s < SEEN_S
