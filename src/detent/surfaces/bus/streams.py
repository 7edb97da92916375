"""The streams that a service keeps on its bus: one of all that comes in, and those of what goes out."""

from collections.abc import Sequence
from typing import Final

from nats.js import JetStreamContext
from nats.js.api import RePublish, RetentionPolicy, StreamConfig, StreamInfo
from nats.js.errors import NotFoundError

from detent.kernel.clock import micros
from detent.surfaces.bus.settings import BusSettings
from detent.surfaces.bus.subjects import SYSTEM, TAKEN_IN

KEPT_S: Final = 7 * 86_400  # what nobody has come for
_OURS: Final = ("subjects", "republish", "duplicate_window", "max_age", "retention")  # of a stream's settings


def inbox(name: str) -> StreamConfig:
    """What came is there until it has been dealt with."""
    return StreamConfig(
        name=f"{name}-in", subjects=list(TAKEN_IN), retention=RetentionPolicy.WORK_QUEUE, max_age=KEPT_S
    )


def outboxes(settings: BusSettings, roots: Sequence[str]) -> dict[str, StreamConfig]:
    """By what their subjects begin with. Each takes a message once, within its window, and passes it on to whoever has
    subscribed to its subject.
    """
    name, window_s = settings.name, settings.window_s
    return {
        root: StreamConfig(
            name=f"{name}-out-{root.replace('.', '-')}",
            subjects=[f"{name}.out.{root}.>"],
            republish=RePublish(src=f"{name}.out.{root}.>", dest=f"{root}.>"),
            duplicate_window=window_s,
            max_age=window_s,
        )
        for root in (*roots, SYSTEM)
    }


async def keep(streams: JetStreamContext, config: StreamConfig) -> int:
    """Since when it is there. What an operator has set beside it, such as replicas, stays."""
    try:
        found = await streams.stream_info(config.name or "")
    except NotFoundError:
        return _made_at(await streams.add_stream(config))
    ours = {name: getattr(config, name) for name in _OURS}
    if any(getattr(found.config, name) != value for name, value in ours.items()):
        await streams.update_stream(found.config.evolve(**ours))
    return _made_at(found)


def _made_at(found: StreamInfo) -> int:
    assert found.created is not None, "every server says when a stream was made"
    return micros(found.created.timestamp())
