"""Queues as wholes: which there are, what waits in them, who serves them, and whether they are paused."""

from collections import Counter
from datetime import datetime
from typing import Final

from msgspec import Struct

from detent.client.arguments import check_actor, check_reason, check_text_name
from detent.client.moments import to_moment_or_none
from detent.client.reads import Reads
from detent.store.fleet import SEEN_S, QueueFacts

_PHASES: Final = ("ready", "held", "active")


class Queue(Struct, frozen=True, kw_only=True):
    """A queue as it is. Jobs that are `ready` wait in it, perhaps for later; `held` and `active` ones are with workers.

    `oldest_ready_at` is since when the first of those that could be claimed now waits; None, if none could be.
    `depth_max` bounds how many may wait. `paused_at` is None unless nothing is claimed from it. `workers` is how many
    that serve it were seen lately; programs that claim jobs and do not report themselves are not among them.
    """

    name: str
    ready: int = 0
    held: int = 0
    active: int = 0
    workers: int = 0
    oldest_ready_at: datetime | None = None
    depth_max: int | None = None
    paused_at: datetime | None = None
    paused_by: str | None = None
    paused_reason: str | None = None


class Queues(Reads):
    async def pause_queue(self, queue: str, *, actor: str | None = None, reason: str | None = None) -> None:
        """No job is claimed from the queue any more, until it is resumed; jobs that were claimed go on.

        Jobs still come in, and grow older. `actor` and `reason` are for whoever asks later. One that is paused already
        stays as it is.
        """
        by, why = check_actor(actor), check_reason(reason)
        await self.store.pause_queue(self.tenant, check_text_name("queue", queue), by, why)

    async def resume_queue(self, queue: str) -> None:
        """Let a paused queue go on. One that is not paused stays as it is."""
        await self.store.resume_queue(self.tenant, check_text_name("queue", queue))

    async def queue(self, queue: str) -> Queue:
        """One queue as it is now. A queue is there as soon as somebody names it."""
        check_text_name("queue", queue)
        counts = {phase: (await self.count(queue=queue, phase=phase))[()] for phase in _PHASES}
        oldest = await self.store.oldest_ready(self.tenant, queue)
        facts = await self.store.queues(self.tenant, queue)
        return _queue(queue, facts[0] if facts else None, counts, (await self._served())[queue], oldest.get(queue))

    async def queues(self) -> list[Queue]:
        """Every queue in which jobs are, which somebody serves, or for which something is set; by name.

        It counts all jobs that have not ended. Of more than 1,000 queues for which something is set, some are missing.
        """
        counts = {phase: await self.count(by=["queue"], phase=phase) for phase in _PHASES}
        oldest = await self.store.oldest_ready(self.tenant)
        facts = {each.name: each for each in await self.store.queues(self.tenant)}
        served = await self._served()
        named = {name for counted in counts.values() for (name,) in counted if name is not None}
        return [
            _queue(
                name, facts.get(name), {phase: counts[phase].get((name,), 0) for phase in _PHASES}, served[name],
                oldest.get(name),
            )
            for name in sorted(named | facts.keys() | served.keys())
        ]  # fmt: skip

    async def _served(self) -> Counter[str]:
        """By how many workers each queue is served."""
        reports = await self.store.workers(self.tenant, SEEN_S)
        return Counter(queue for report in reports for queue in set(report.queues))


def _queue(name: str, facts: QueueFacts | None, counts: dict[str, int], workers: int, oldest: int | None) -> Queue:
    facts = facts or QueueFacts(name=name)
    return Queue(
        name=name, **counts, workers=workers, oldest_ready_at=to_moment_or_none(oldest), depth_max=facts.depth_max,
        paused_at=to_moment_or_none(facts.paused_at), paused_by=facts.paused_by, paused_reason=facts.paused_reason,
    )  # fmt: skip
