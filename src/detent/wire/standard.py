"""`standard` on the wire: the event schema and the dead letter. Any lifecycle's events can be written this way."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta

from detent.kernel import Error, Event, Job, Note
from detent.kernel.dead_letter import dead_letter_of as _dead_letter_of
from detent.lifecycle import Lifecycle
from detent.wire.bounds import Count, Name, Text, clip
from detent.wire.moments import from_rfc3339, if_set, to_rfc3339
from detent.wire.shape import Shape, read

EVENT_ID_CHARS_MAX: Final = 512  # a job id, and what tells its events apart


class StandardEvent(Shape, frozen=True):
    """`payload` is what the caller said. It is null when nothing was, or when it was dropped after its time."""

    id: Annotated[str, Meta(min_length=1, max_length=EVENT_ID_CHARS_MAX)]
    job_id: Name
    type: Name
    ts: str
    actor: Name
    correlation_id: Name
    cause: Text | None
    payload: dict[str, Any] | None
    version: Count

    @property
    def at(self) -> int:
        return from_rfc3339(self.ts)


class DeadLetter(Shape, frozen=True):
    """What someone needs who decides whether to redrive it or to let it go."""

    job_id: Name
    reason_code: Name
    stage: Name
    last_error: Error
    attempts: Count
    last_owner: Name | None
    last_lease_expires_at: str | None
    correlation_id: Name


def event_of(event: Event) -> StandardEvent:
    return StandardEvent(
        id=event.id,
        job_id=event.job_id,
        type=event.type,
        ts=to_rfc3339(event.at),
        actor=event.actor,
        correlation_id=event.correlation_id,
        cause=None if event.cause is None else clip(event.cause),
        payload=event.payload,
        version=event.version,
    )


def event_of_note(note: Note, job: Job) -> StandardEvent:
    """A note has no revision of its own: its kind and time tell it from others at the same one."""
    return StandardEvent(
        id=f"{note.job_id}:{note.rev}:{note.kind}:{note.at}",
        job_id=note.job_id,
        type=note.type,
        ts=to_rfc3339(note.at),
        actor=note.actor,
        correlation_id=job.spec.correlation_id,
        cause=None,
        payload=note.payload,
        version=note.version,
    )


def read_event(data: bytes | Mapping[str, Any]) -> StandardEvent:
    event = read(StandardEvent, data)
    from_rfc3339(event.ts)  # refused here rather than by whoever asks for `at`
    return event


def dead_letter_of(lifecycle: Lifecycle, job: Job) -> DeadLetter | None:
    """None for a job that is no dead letter."""
    letter = _dead_letter_of(lifecycle, job)
    if letter is None:
        return None
    return DeadLetter(
        job_id=letter.job_id,
        reason_code=letter.reason_code,
        stage=letter.stage,
        last_error=letter.last_error,
        attempts=letter.attempts,
        last_owner=letter.last_owner,
        last_lease_expires_at=if_set(to_rfc3339, letter.last_lease_expires_at),
        correlation_id=letter.correlation_id,
    )
