"""`contract` on the wire: its event, which says from where to where, and the eight words an event can be."""

from typing import Final, Literal, get_args

from detent.errors import InvalidArgument
from detent.kernel import Event
from detent.wire.bounds import Name
from detent.wire.moments import to_rfc3339
from detent.wire.shape import Shape

EventType = Literal["enqueued", "claimed", "started", "heartbeat", "succeeded", "failed", "stalled", "requeued"]
EVENT_TYPES: Final[tuple[EventType, ...]] = get_args(EventType)
_KNOWN: Final[dict[str, EventType]] = {name: name for name in EVENT_TYPES}


class ContractEvent(Shape, frozen=True):
    """`from_status` is null for the event that created the job."""

    type: EventType
    from_status: Name | None
    to_status: Name
    at: str
    actor: Name
    request_id: Name | None


def event_of(event: Event) -> ContractEvent:
    type_ = _KNOWN.get(event.type)
    if type_ is None:
        raise InvalidArgument(
            f"event {event.id} is a {event.type!r}; this wire knows {', '.join(EVENT_TYPES)}", code="unknown_event_type"
        )
    return ContractEvent(
        type=type_,
        from_status=event.from_state,
        to_status=event.to_state,
        at=to_rfc3339(event.at),
        actor=event.actor,
        request_id=event.request_id,
    )
