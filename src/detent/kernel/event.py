"""What is written down: one `Event` per mutation, and `Note`s for everything that is said without moving the job."""

from typing import Any, Final, Literal

from msgspec import Struct

NoteKind = Literal["late_result", "amendment", "compensated", "progress", "artifact"]
EVENT_VERSION: Final = 1
NOTE_BYTES_MAX: Final = 4_096


class Event(Struct, frozen=True, gc=False, omit_defaults=True):
    """One mutation. `changes` are the columns it set: folding them, in the order of rev, gives the record.

    `actor` is who it was, in free text; `role` is what allowed it; `worker` is who claimed to own the job.
    `payload` is what the caller said; it may be dropped after a while without hurting the fold.
    """

    tenant: str
    job_id: str
    rev: int
    type: str
    verb: str
    from_state: str | None
    to_state: str
    at: int
    actor: str
    role: str
    worker: str | None
    attempt: int
    request_id: str | None
    correlation_id: str
    trace_id: str | None
    cause: str | None
    changes: dict[str, Any]
    payload: dict[str, Any] | None = None
    version: int = EVENT_VERSION

    @property
    def id(self) -> str:
        return f"{self.tenant}:{self.job_id}:{self.rev}"


class Note(Struct, frozen=True, gc=False, omit_defaults=True):
    """Something said about a job at a revision. No mutation: no rev of its own, outside the fold."""

    tenant: str
    job_id: str
    rev: int
    kind: NoteKind
    type: str
    at: int
    actor: str
    payload: dict[str, Any]
    version: int = EVENT_VERSION
