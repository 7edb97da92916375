"""The workers of pools, by what they say of themselves: their heartbeats, and what they greet with."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct

from detent.lifecycle.bounds import NAME_CHARS_MAX
from detent.store.fleet import REPORT_S, SEEN_S
from detent.surfaces.bus.packets import Packet
from detent.surfaces.bus.subjects import Topics

WORKERS_MAX: Final = 10_000
TOPICS_MAX: Final = 100  # of one worker
SLOTS_MAX: Final = 10_000
BUSY_MAX: Final = 10_000  # topics of which it is remembered that their workers say how busy they are


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

    def is_here(self, now_s: float) -> bool:
        return now_s - self.seen_s < SEEN_S

    def is_to_be_reported(self, now_s: float) -> bool:
        """It was heard of since it was last reported, which is a while ago."""
        return bool(self.topics) and self.seen_s > self.reported_s and self.reported_s + REPORT_S <= now_s


class Members:
    """Those that were heard of lately. Of who was there before this service was, the topics are `known`."""

    def __init__(self, topics: Topics, clock: Callable[[], float]) -> None:
        self._topics = topics
        self._clock = clock
        self._here: dict[str, Member] = {}
        self._spoken: dict[str, None] = {}
        self.known: Mapping[str, Sequence[str]] = {}

    def __iter__(self) -> Iterator[Member]:
        """Without those that have not been heard of for too long."""
        now_s = self._clock()
        self._here = {name: each for name, each in self._here.items() if each.is_here(now_s)}
        return iter(list(self._here.values()))

    def of(self, topic: str) -> list[Member]:
        return [each for each in self if topic in each.topics]

    def busy(self, topic: str) -> int | None:
        """How many jobs its workers have, or take next. None: there are none, or they have never said that they had
        any, and maybe never do.
        """
        members = self.of(topic)
        return sum(each.running + 1 for each in members) if members and topic in self._spoken else None

    def hear(self, packet: Packet) -> Member:
        """Who it is now known to be. Of more than can be remembered, the others are forgotten at once."""
        member = self._here.get(packet.sender_id)
        if member is None:
            member = Member(packet.sender_id, datetime.now(UTC))
            self._learn_topics(member, self.known.get(member.name, ()))
            if len(self._here) < WORKERS_MAX:
                self._here[member.name] = member
        member.seen_s = self._clock()
        self._learn(member, packet)
        return member

    def _learn(self, member: Member, packet: Packet) -> None:
        """A greeting names topics; a heartbeat names a pool, which may be a topic, and says how busy the worker is."""
        told: Any = packet.message
        if packet.kind == "handshake":
            member.version = told.sdk_version[:NAME_CHARS_MAX] or member.version
            self._learn_topics(member, told.ready_topics[:TOPICS_MAX])
        else:
            member.slots = min(max(told.max_parallel_jobs, 1), SLOTS_MAX)
            member.running = min(max(told.active_jobs, 0), SLOTS_MAX)
            self._learn_topics(member, [told.pool])
            if member.running:
                self._remember_spoken(member.topics)

    def _remember_spoken(self, topics: Sequence[str]) -> None:
        self._spoken.update(dict.fromkeys(topics))
        while len(self._spoken) > BUSY_MAX:
            del self._spoken[next(iter(self._spoken))]

    def _learn_topics(self, member: Member, named: Sequence[str]) -> None:
        served = (topic for topic in named if len(topic) <= NAME_CHARS_MAX and topic in self._topics)
        member.topics = tuple(dict.fromkeys((*member.topics, *served)))[-TOPICS_MAX:]
