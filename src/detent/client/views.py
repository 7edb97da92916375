"""Jobs, events and notes as a program sees them: flat, values decoded when they are looked at, moments as datetimes."""

from datetime import datetime
from operator import attrgetter
from typing import Any, Generic, TypeVar

from msgspec import Struct

from detent import kernel
from detent.client.codec import Codec
from detent.client.moments import to_moment
from detent.kernel import Error
from detent.kernel.change import Answer
from detent.kernel.job import Progress
from detent.lifecycle import Policy
from detent.telemetry.traceparent import parts_of, trace_id_of

Value = TypeVar("Value")


class View(Struct, frozen=True, eq=False, gc=False):
    """Something kept by the store, as it was when it was read. A struct, because a batch makes them by the hundred."""

    record: Any

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and bool(other.record == self.record)


class Field(Generic[Value]):
    """An attribute that is a field of the record, or of a part of it."""

    def __init__(self, path: str) -> None:
        self._get = attrgetter(path)

    def __get__(self, view: View, owner: type) -> Value:
        value: Value = self._get(view.record)
        return value


class Moment:
    """A moment that there always is."""

    def __init__(self, path: str) -> None:
        self._get = attrgetter(path)

    def __get__(self, view: View, owner: type) -> datetime:
        return to_moment(self._get(view.record))


class OptionalMoment:
    def __init__(self, path: str) -> None:
        self._get = attrgetter(path)

    def __get__(self, view: View, owner: type) -> datetime | None:
        micros = self._get(view.record)
        return None if micros is None else to_moment(micros)


class Trace:
    """A trace's id, by which it is searched for, whether the record has it alone or in a whole traceparent."""

    def __init__(self, path: str) -> None:
        self._get = attrgetter(path)

    def __get__(self, view: View, owner: type) -> str | None:
        return trace_id_of(self._get(view.record))


class Job(View, frozen=True, eq=False, gc=False):
    """A job as it was when it was read. It does not change; read it again to see what became of it.

    `answer` says how the request that returned it was answered: "applied"; "repeat" of a request that was carried out
    before; "duplicate" for the live job of a dedupe key; "unchanged" where what was asked is already so; "noted".
    """

    record: kernel.Job
    codec: Codec
    answer: Answer = "applied"

    # what it is
    id = Field[str]("spec.id")
    tenant = Field[str]("spec.tenant")
    kind = Field[str]("spec.kind")
    lifecycle = Field[str]("spec.lifecycle")
    lifecycle_version = Field[int]("spec.lifecycle_version")
    policy = Field[Policy]("spec.policy")
    queue = Field[str]("spec.queue")
    priority = Field[int]("spec.priority")
    run_at = OptionalMoment("spec.run_at")
    limit_key = Field[str | None]("spec.limit_key")
    dedupe_key = Field[str | None]("spec.dedupe_key")
    correlation_id = Field[str]("spec.correlation_id")
    trace_id = Trace("spec.trace_id")
    parent_job_id = Field[str | None]("spec.parent_job_id")
    workflow_id = Field[str | None]("spec.workflow_id")
    step_index = Field[int | None]("spec.step_index")
    topic = Field[str | None]("spec.topic")
    context_ptr = Field[str | None]("spec.context_ptr")
    adapter_id = Field[str | None]("spec.adapter_id")
    env = Field[dict[str, str]]("spec.env")
    rerun_of = Field[str | None]("rerun_of")

    # where it is, and who has it
    state = Field[str]("state")
    phase = Field[str]("phase")
    outcome = Field[str | None]("outcome")
    rev = Field[int]("rev")
    attempt = Field[int]("attempt")
    owner = Field[str | None]("owner")
    lease_s = Field[float | None]("lease_s")
    lease_expires_at = OptionalMoment("lease_expires_at")
    heartbeat_by = OptionalMoment("heartbeat_by")
    last_owner = Field[str | None]("last_owner")
    last_lease_expires_at = OptionalMoment("last_lease_expires_at")

    # when what is due
    due_at = OptionalMoment("due_at")
    claim_at = OptionalMoment("claim_at")
    wake_at = OptionalMoment("wake_at")
    deadline_at = OptionalMoment("deadline_at")
    cancel_by = OptionalMoment("cancel_by")

    # what was counted and said
    failures = Field[int]("failures")
    crashes = Field[int]("crashes")
    interruptions = Field[int]("interruptions")
    retries = Field[int]("retries")
    verdict = Field[str | None]("verdict")
    rule = Field[str | None]("rule")
    result_ptr = Field[str | None]("result_ptr")
    error = Field[Error | None]("error")
    last_error = Field[Error | None]("last_error")
    progress = Field[Progress | None]("progress")
    is_ended = Field[bool]("is_ended")
    is_cancel_requested = Field[bool]("is_cancel_requested")

    created_at = Moment("created_at")
    updated_at = Moment("updated_at")
    claimed_at = OptionalMoment("claimed_at")
    started_at = OptionalMoment("started_at")
    ended_at = OptionalMoment("ended_at")

    @property
    def traceparent(self) -> str | None:
        """Its trace as W3C has it, with the span in which it was made, where whoever made it was traced."""
        kept = self.record.spec.trace_id
        return None if parts_of(kept) is None else kept

    @property
    def payload(self) -> Any:
        return self.codec.decode(self.record.spec.payload)

    @property
    def result(self) -> Any:
        """What a success returned; None before, and if that is what it was."""
        return None if self.record.result is None else self.codec.decode(self.record.result, "result")

    @property
    def checkpoint(self) -> Any:
        """What the last attempt saved for the next."""
        return None if self.record.checkpoint is None else self.codec.decode(self.record.checkpoint, "checkpoint")

    def __hash__(self) -> int:
        return hash((self.id, self.rev))

    def __repr__(self) -> str:
        return f"<Job {self.id} '{self.state}' rev={self.rev} attempt={self.attempt}>"


class Event(View, frozen=True, eq=False, gc=False):
    """One mutation, as the log has it. `cursor` is its place, from which a listing can go on."""

    record: kernel.Event
    cursor: str | None = None

    id = Field[str]("id")
    tenant = Field[str]("tenant")
    job_id = Field[str]("job_id")
    rev = Field[int]("rev")
    type = Field[str]("type")
    verb = Field[str]("verb")
    from_state = Field[str | None]("from_state")
    to_state = Field[str]("to_state")
    at = Moment("at")
    actor = Field[str]("actor")
    role = Field[str]("role")
    worker = Field[str | None]("worker")
    attempt = Field[int]("attempt")
    request_id = Field[str | None]("request_id")
    correlation_id = Field[str]("correlation_id")
    trace_id = Trace("trace_id")
    cause = Field[str | None]("cause")
    changes = Field[dict[str, Any]]("changes")
    payload = Field[dict[str, Any] | None]("payload")
    version = Field[int]("version")

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<Event {self.id} {self.type} {self.from_state} → {self.to_state}>"


class Note(View, frozen=True, eq=False, gc=False):
    """Something said of a job without moving it."""

    record: kernel.Note

    tenant = Field[str]("tenant")
    job_id = Field[str]("job_id")
    rev = Field[int]("rev")
    kind = Field[str]("kind")
    type = Field[str]("type")
    at = Moment("at")
    actor = Field[str]("actor")
    payload = Field[dict[str, Any]]("payload")

    def __hash__(self) -> int:
        return hash((self.job_id, self.rev, self.record.at))

    def __repr__(self) -> str:
        return f"<Note {self.kind} on {self.job_id} at rev {self.rev}>"
