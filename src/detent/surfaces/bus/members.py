"""The workers of pools, by what they say of themselves: their heartbeats, and what they greet with."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct

from detent.lifecycle.bounds import NAME_CHARS_MAX
from detent.store.fleet import REPORT_S, SEEN_S, WORKER_KEPT_S
from detent.surfaces.bus.packets import Packet
from detent.surfaces.bus.subjects import Topics

MEMBERS_MAX: Final = 10_000
TOPICS_MAX: Final = 100  # of one worker
SLOTS_MAX: Final = 10_000
BUSY_MAX: Final = 10_000  # topics of which it is remembered that their workers say how busy they are
PRUNED_S: Final = 1.0


class Member(Struct):
    """A worker of a pool, as it was last heard of. `is_recalled`: only from what was kept of it."""

    name: str
    since: datetime
    topics: tuple[str, ...] = ()
    slots: int = 1
    running: int = 0
    version: str = "cap"
    seen_s: float = 0.0
    reported_s: float = float("-inf")
    is_recalled: bool = False

    def is_here(self, now_s: float) -> bool:
        return now_s - self.seen_s < SEEN_S

    def is_to_be_reported(self, now_s: float) -> bool:
        """It was heard of since it was last reported, which is a while ago."""
        return bool(self.topics) and self.seen_s > self.reported_s and self.reported_s + REPORT_S <= now_s


class Members:
    """Those that were heard of lately, and for a day those that were not."""

    def __init__(self, topics: Topics, clock: Callable[[], float]) -> None:
        self._topics = topics
        self._clock = clock
        self._here: dict[str, Member] = {}
        self._gone: dict[str, Member] = {}
        self._spoken: dict[str, None] = {}
        self._pruned_s = float("-inf")

    def __iter__(self) -> Iterator[Member]:
        """Without those that have not been heard of for too long."""
        self._prune()
        return iter(list(self._here.values()))

    def of(self, topic: str) -> list[Member]:
        self._prune()
        return [each for each in self._here.values() if topic in each.topics]

    def busy(self, topic: str) -> int | None:
        """How many jobs its workers have, or take next. None: there are none, or they have never said that they had
        any, and maybe never do.
        """
        members = self.of(topic)
        return sum(each.running + 1 for each in members) if members and topic in self._spoken else None

    def lost_most(self, topic: str) -> int:
        """How many jobs may be with nobody: what those that are gone had room for, and as many again as those have
        that are here, since they may have been started anew.
        """
        return sum(each.slots + 1 for each in (*self.of(topic), *self._gone.values()) if topic in each.topics)

    def recall(self, kept: Member) -> None:
        """What another service has kept of it. Whether it is still there shows by its next heartbeat."""
        if kept.name not in self._here and len(self._here) < MEMBERS_MAX:
            kept.is_recalled = True
            kept.topics = self._served(kept.topics)
            self._here[kept.name] = kept
            self._remember_spoken(kept)

    def hear(self, packet: Packet) -> Member:
        """Who it is now known to be. Of more than can be remembered, the others are forgotten at once."""
        member = self._here.get(packet.sender_id) or self._gone.pop(packet.sender_id, None)
        if member is None:
            member = Member(packet.sender_id, datetime.now(UTC))
        if len(self._here) < MEMBERS_MAX:
            self._here[member.name] = member
        member.seen_s = self._clock()
        self._learn(member, packet)
        return member

    def _learn(self, member: Member, packet: Packet) -> None:
        """A greeting names all topics; a heartbeat a pool, which may be a topic, and it says how busy the worker is."""
        told: Any = packet.message
        if packet.kind == "handshake":
            member.version = told.sdk_version[:NAME_CHARS_MAX] or member.version
            member.topics, member.is_recalled = self._served(told.ready_topics[:TOPICS_MAX]), False
            return
        member.slots = min(max(told.max_parallel_jobs, 1), SLOTS_MAX)
        member.running = min(max(told.active_jobs, 0), SLOTS_MAX)
        if named := self._served([told.pool]):
            known = () if member.is_recalled else member.topics
            member.topics, member.is_recalled = tuple(dict.fromkeys((*known, *named)))[-TOPICS_MAX:], False
        self._remember_spoken(member)

    def _served(self, named: Sequence[str]) -> tuple[str, ...]:
        return tuple(topic for topic in named if len(topic) <= NAME_CHARS_MAX and topic in self._topics)

    def _remember_spoken(self, member: Member) -> None:
        if member.running:
            self._spoken.update(dict.fromkeys(member.topics))
        while len(self._spoken) > BUSY_MAX:
            del self._spoken[next(iter(self._spoken))]

    def _prune(self) -> None:
        now_s = self._clock()
        if now_s - self._pruned_s < PRUNED_S:
            return
        self._pruned_s = now_s
        silent = [each for each in self._here.values() if not each.is_here(now_s)]
        for each in silent:
            self._gone[each.name] = self._here.pop(each.name)
        self._gone = {name: each for name, each in self._gone.items() if now_s - each.seen_s < WORKER_KEPT_S}
        while len(self._gone) > MEMBERS_MAX:
            del self._gone[next(iter(self._gone))]
