"""Queues and limit keys: what waits, what is set, who holds what."""

from datetime import datetime
from typing import Final

from msgspec import Struct

from detent.client.arguments import check_text_name
from detent.client.queues import Queue
from detent.store.fleet import QueueFacts
from detent.store.limits import KeyReport
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.route import Route
from detent.wire.moments import to_moment


class QueuesShape(Struct, frozen=True, kw_only=True):
    queues: list[Queue]


class QueueSettingsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    queue: str | None = None


class QueueSettingsShape(Struct, frozen=True, kw_only=True):
    """Queues for which something is set. Moments are microseconds since 1970, as the store has them."""

    queues: list[QueueFacts]


class OldestQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`queue`: of that one alone."""

    queue: str | None = None


class OldestShape(Struct, frozen=True, kw_only=True):
    """For each queue in which a job waits that is due: since when the oldest of them could have been claimed."""

    oldest_ready: dict[str, datetime]


class PauseBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`actor` and `reason` are for whoever asks later."""

    actor: str | None = None
    reason: str | None = None


class LimitBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many jobs may wait; null: any number."""

    depth_max: int | None


async def queues(ask: Ask) -> QueuesShape:
    """Every queue in which jobs are, which somebody serves, or for which something is set."""
    return QueuesShape(queues=await ask.client.queues())


async def queue_settings(ask: Ask, query: QueueSettingsQuery) -> QueueSettingsShape:
    """What is set for queues, without counting their jobs."""
    name = None if query.queue is None else check_text_name("queue", query.queue)
    return QueueSettingsShape(queues=await ask.client.store.queues(ask.grant.tenant, name))


async def queue(ask: Ask, queue: str) -> Queue:
    """One queue as it is now. A queue is there as soon as somebody names it."""
    return await ask.client.queue(queue)


async def oldest_ready(ask: Ask, query: OldestQuery) -> OldestShape:
    """Since when the oldest job of each queue has been waiting that is due."""
    name = None if query.queue is None else check_text_name("queue", query.queue)
    found = await ask.client.store.oldest_ready(ask.grant.tenant, name)
    return OldestShape(oldest_ready={queue: to_moment(at) for queue, at in found.items()})


async def pause_queue(ask: Ask, queue: str, body: PauseBody) -> None:
    """No job is claimed from the queue any more, until it is resumed."""
    await ask.client.pause_queue(queue, actor=ask.grant.actor(body.actor), reason=body.reason)


async def resume_queue(ask: Ask, queue: str) -> None:
    """Let a paused queue go on."""
    await ask.client.resume_queue(queue)


async def limit_queue(ask: Ask, queue: str, body: LimitBody) -> None:
    """Bound how many jobs may wait in a queue: an enqueue beyond is refused (`queue_full`)."""
    await ask.client.limit_queue(queue, depth_max=body.depth_max)


async def limit_key(ask: Ask, limit_key: str) -> KeyReport:
    """How far a limit key is used, and which jobs hold it."""
    return await ask.client.store.key_use(ask.grant.tenant, check_text_name("limit_key", limit_key))


_READ: Final = ("read",)
_OPERATE: Final = ("operate",)
ROUTES: Final = (
    Route(method="GET", path="/v1/queues", handler=queues, scopes=_READ, tag="queues"),
    Route(method="GET", path="/v1/queue-settings", handler=queue_settings, scopes=("read", "work"), tag="queues"),
    Route(method="GET", path="/v1/queues/{queue}", handler=queue, scopes=_READ, tag="queues"),
    Route(method="GET", path="/v1/oldest-ready", handler=oldest_ready, scopes=_READ, tag="queues"),
    Route(method="POST", path="/v1/queues/{queue}/pause", handler=pause_queue, scopes=_OPERATE, tag="queues"),
    Route(method="POST", path="/v1/queues/{queue}/resume", handler=resume_queue, scopes=_OPERATE, tag="queues"),
    Route(method="POST", path="/v1/queues/{queue}/limit", handler=limit_queue, scopes=_OPERATE, tag="queues"),
    Route(method="GET", path="/v1/limit-keys/{limit_key}", handler=limit_key, scopes=_READ, tag="queues"),
)
