"""`dispatch` on the wire: JobRequest and JobResult, from and to the record.

Pointers are opaque. They are carried from one side to the other; nothing here parses or fetches one.
"""

from typing import Annotated, Final, Literal, get_args

from msgspec import Meta, field

from detent.errors import InvalidArgument
from detent.kernel import Event, Job
from detent.kernel.command import Enqueue
from detent.kernel.parse import PRIORITY_MAX, check_command
from detent.lifecycle.bounds import NAME_CHARS_MAX
from detent.lifecycle.words import WORKING
from detent.wire.bounds import Count, Env, Name, Pointer, Text, clip
from detent.wire.shape import Shape

PriorityName = Literal["critical", "interactive", "batch"]
Priority = PriorityName | Annotated[int, Meta(ge=-PRIORITY_MAX, le=PRIORITY_MAX)]
# A step of priority is worth `policy.aging_s` of waiting, so at a minute each a batch job that has waited for ten goes
# before a fresh interactive one, and after twenty before a fresh critical one: last in line, never starved.
PRIORITIES: Final[dict[PriorityName, int]] = {"critical": 20, "interactive": 10, "batch": 0}
_PRIORITY_NAMES: Final[dict[int, PriorityName]] = {number: name for name, number in PRIORITIES.items()}

Status = Literal[
    "PENDING", "SCHEDULED", "DISPATCHED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "DENIED", "TIMEOUT"
]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
_STATUSES: Final[dict[str, Status]] = {status: status for status in STATUSES}


class JobRequest(Shape, frozen=True):
    """`topic` names the pool. `kind` is what the job is, where that differs from its topic."""

    job_id: Name
    topic: Name
    priority: Priority = "batch"
    context_ptr: Pointer | None = None
    adapter_id: Name | None = None
    env: Env = field(default_factory=dict)
    parent_job_id: Name | None = None
    workflow_id: Name | None = None
    step_index: Count | None = None
    kind: Name | None = None


class JobResult(Shape, frozen=True):
    """`execution_ms` is the worker's own measure; null where it gave none."""

    job_id: Name
    status: Status
    result_ptr: Pointer | None = None
    worker_id: Name | None = None
    execution_ms: Count | None = None
    error_code: Name | None = None
    error_message: Text | None = None


def enqueue_of(request: JobRequest) -> Enqueue:
    """The topic is also the queue: a pool that claims there finds its jobs by index.

    Tenant, policy, request id and trace id are the transport's to add, with `msgspec.structs.replace`.
    """
    priority = request.priority
    command = Enqueue(
        job_id=request.job_id,
        kind=request.kind or request.topic,
        queue=request.topic,
        topic=request.topic,
        priority=priority if isinstance(priority, int) else PRIORITIES[priority],
        context_ptr=request.context_ptr,
        adapter_id=request.adapter_id,
        env=request.env,
        parent_job_id=request.parent_job_id,
        workflow_id=request.workflow_id,
        step_index=request.step_index,
    )
    check_command(command)
    return command


def request_of(job: Job) -> JobRequest:
    spec = job.spec
    topic = spec.topic or spec.kind
    return JobRequest(
        job_id=job.id,
        topic=topic,
        priority=_PRIORITY_NAMES.get(spec.priority, spec.priority),
        context_ptr=spec.context_ptr,
        adapter_id=spec.adapter_id,
        env=spec.env,
        parent_job_id=spec.parent_job_id,
        workflow_id=spec.workflow_id,
        step_index=spec.step_index,
        kind=None if spec.kind == topic else spec.kind,
    )


def result_of(job: Job, event: Event) -> JobResult:
    """What to tell of a job, `event` being its last."""
    assert (event.job_id, event.rev) == (job.id, job.rev), "the last event is the one that made the record"
    said, error = event.payload or {}, job.error
    return JobResult(
        job_id=job.id,
        status=_status(job.state),
        result_ptr=job.result_ptr,
        # A pool may hold the lease for its workers; then the actor is the one that did the work.
        worker_id=event.actor if event.role in WORKING else job.owner or job.last_owner,
        execution_ms=said.get("execution_ms"),
        error_code=None if error is None else clip(error.code or error.type, NAME_CHARS_MAX),
        error_message=None if error is None else clip(error.message),
    )


def _status(state: str) -> Status:
    status = _STATUSES.get(state)
    if status is None:
        raise InvalidArgument(f"{state!r} is no status of this wire; use {', '.join(STATUSES)}", code="unknown_status")
    return status
