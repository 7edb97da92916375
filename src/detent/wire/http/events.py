"""Events and notes in JSON, and back."""

from base64 import b64decode, b64encode
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import Struct

from detent.kernel import Event, Note
from detent.kernel.event import NoteKind
from detent.telemetry.traceparent import trace_id_of, whole_of
from detent.wire.moments import micros_of, to_moment

_BYTES: Final = "base64:"


class EventShape(Struct, frozen=True, kw_only=True):
    """One mutation of a job. `changes` are the columns it set; `cursor` is its place in the log, where it is known."""

    id: str
    job_id: str
    rev: int
    type: str
    verb: str
    from_state: str | None
    to_state: str
    at: datetime
    actor: str
    role: str
    worker: str | None
    attempt: int
    request_id: str | None
    correlation_id: str
    trace_id: str | None
    traceparent: str | None
    cause: str | None
    changes: dict[str, Any]
    payload: dict[str, Any] | None
    version: int
    tenant: str
    cursor: str | None = None


class NoteShape(Struct, frozen=True, kw_only=True):
    """Something said of a job without moving it: a late result, an amendment, a compensation, progress, an artifact.

    What a late worker sent is JSON if all of it was kept, or else text that begins with `base64:`.
    """

    job_id: str
    rev: int
    kind: NoteKind
    type: str
    at: datetime
    actor: str
    payload: dict[str, Any]
    version: int
    tenant: str
    kept: list[str] = []


def event_shape(event: Event, cursor: str | None = None) -> EventShape:
    return EventShape(
        id=event.id, job_id=event.job_id, rev=event.rev, type=event.type, verb=event.verb, from_state=event.from_state,
        to_state=event.to_state, at=to_moment(event.at), actor=event.actor, role=event.role, worker=event.worker,
        attempt=event.attempt, request_id=event.request_id, correlation_id=event.correlation_id,
        trace_id=trace_id_of(event.trace_id), traceparent=whole_of(event.trace_id),
        cause=event.cause, changes=event.changes, payload=event.payload,
        version=event.version, tenant=event.tenant, cursor=cursor,
    )  # fmt: skip


def event_of(shape: EventShape) -> Event:
    return Event(
        shape.tenant, shape.job_id, shape.rev, shape.type, shape.verb, shape.from_state, shape.to_state,
        micros_of(shape.at), shape.actor, shape.role, shape.worker, shape.attempt, shape.request_id,
        shape.correlation_id, shape.traceparent or shape.trace_id, shape.cause, shape.changes, shape.payload,
        shape.version,
    )  # fmt: skip


def note_shape(note: Note) -> NoteShape:
    """`kept` names what a store has as bytes, so that a reader can have them again."""
    kept = [name for name, value in note.payload.items() if isinstance(value, bytes)]
    said = note.payload | {name: _shown(note.payload[name]) for name in kept}
    return NoteShape(
        job_id=note.job_id, rev=note.rev, kind=note.kind, type=note.type, at=to_moment(note.at), actor=note.actor,
        payload=said, version=note.version, tenant=note.tenant, kept=kept,
    )  # fmt: skip


def note_of(shape: NoteShape) -> Note:
    said = shape.payload | {name: _bytes(shape.payload[name]) for name in shape.kept}
    return Note(
        shape.tenant, shape.job_id, shape.rev, shape.kind, shape.type, micros_of(shape.at), shape.actor, said,
        shape.version,
    )  # fmt: skip


def _shown(kept: bytes) -> Any:
    """JSON, if that gives the same bytes again; a text that was cut short is none."""
    try:
        value = msgspec.json.decode(kept)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _BYTES + b64encode(kept).decode()
    is_same = not (isinstance(value, str) and value.startswith(_BYTES)) and msgspec.json.encode(value) == kept
    return value if is_same else _BYTES + b64encode(kept).decode()


def _bytes(said: Any) -> bytes:
    if isinstance(said, str) and said.startswith(_BYTES):
        return b64decode(said.removeprefix(_BYTES))
    return msgspec.json.encode(said)
