"""From a JobRequest of the bus to a new job, and from a job's record back to the JobRequest that its pool gets."""

from typing import Any, Final

from google.protobuf.json_format import Error as JsonError
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from detent.errors import InvalidArgument
from detent.kernel import Job
from detent.lifecycle.bounds import NAME_CHARS_MAX
from detent.surfaces.bus.packets import Packet, message
from detent.surfaces.bus.settings import BusSettings
from detent.surfaces.bus.subjects import Topics
from detent.wire.dispatch import PRIORITIES, PriorityName
from detent.wire.shape import json_value

LIFECYCLE: Final = "dispatch"
# What a job's record has a place for. The rest is kept in its payload, and goes along to whoever runs the job.
_RECORDED: Final = (
    "job_id", "topic", "priority", "context_ptr", "adapter_id", "env", "parent_job_id", "workflow_id", "step_index",
)  # fmt: skip
_REST: Final = "cap"
_PRIORITY_NAMES: Final[dict[int, PriorityName]] = {0: "batch", 1: "interactive", 2: "batch", 3: "critical"}
_PRIORITY_NUMBERS: Final[dict[PriorityName, int]] = {"interactive": 1, "batch": 2, "critical": 3}


def arguments_of(packet: Packet, settings: BusSettings, topics: Topics) -> dict[str, Any]:
    """What `enqueue` is asked for. The topic is also the queue: whoever claims for its pool finds the job there."""
    request = packet.message
    topic = topics.check(request.topic)
    _check_tenant(request, settings.tenant)
    given: dict[str, Any] = {
        "job_id": request.job_id, "kind": topic, "queue": topic, "topic": topic, "lifecycle": LIFECYCLE,
        "priority": _priority(request.priority), "env": dict(request.env), "payload": _rest(request),
        "context_ptr": request.context_ptr or None, "adapter_id": request.adapter_id or None,
        "parent_job_id": request.parent_job_id or None, "workflow_id": request.workflow_id or None,
        # Zero is what the wire has for none: only within a workflow it is the first step.
        "step_index": request.step_index if request.workflow_id or request.step_index else None,
        "policy": settings.policy_of(topic), "correlation_id": packet.trace_id[:NAME_CHARS_MAX],
        "role": "gateway", "actor": packet.sender_id,
    }  # fmt: skip
    if not request.job_id:
        raise InvalidArgument("a JobRequest has no job_id; give every job one of its own")
    return given


def request_of(job: Job) -> Any:
    """As it was submitted, and with the attempt, so that a worker can say which one its result is of."""
    spec = job.spec
    made = _restored(job)
    made.job_id, made.topic = job.id, topic_of(job)
    made.priority = _PRIORITY_NUMBERS[_nearest(spec.priority)]
    for name in ("context_ptr", "adapter_id", "parent_job_id", "workflow_id"):
        setattr(made, name, getattr(spec, name) or "")
    made.step_index = spec.step_index or 0
    made.env.update(spec.env)
    made.dispatch.dispatch_id, made.dispatch.attempt = f"{job.id}.{job.attempt}", job.attempt
    return made


def topic_of(job: Job) -> str:
    """A job in a pool's queue is the pool's, whether it names its topic or not."""
    return job.spec.queue


def _priority(number: int) -> int:
    name = _PRIORITY_NAMES.get(number)
    if name is None:
        raise InvalidArgument(f"priority is {number}; use 1 (interactive), 2 (batch) or 3 (critical)")
    return PRIORITIES[name]


def _nearest(priority: int) -> PriorityName:
    """The highest of the names that it reaches."""
    return max(
        (name for name in PRIORITIES if PRIORITIES[name] <= priority), key=PRIORITIES.__getitem__, default="batch"
    )


def _check_tenant(request: Any, tenant: str) -> None:
    """A bus is one tenant's. Whoever names another one is not to be taken for this one."""
    named = request.tenant_id or request.identity.tenant_id or request.meta.tenant_id
    if named not in ("", tenant):
        raise InvalidArgument(
            f"job {request.job_id[:64]!r} is of tenant {named[:64]!r}, and this bus is for tenant '{tenant}'",
            code="wrong_tenant",
        )


def _rest(request: Any) -> dict[str, Any] | None:
    rest = type(request)()
    rest.CopyFrom(request)
    for name in _RECORDED:
        rest.ClearField(name)
    try:
        said = MessageToDict(rest, preserving_proto_field_name=True)
    except (JsonError, ValueError) as wrong:  # a moment beyond the calendar, for one
        raise InvalidArgument(f"job {request.job_id[:64]!r} cannot be kept: {wrong}", code="bad_packet") from None
    return {_REST: said} if said else None


def _restored(job: Job) -> Any:
    payload = json_value(job.id, job.spec.payload)
    rest = payload.get(_REST) if isinstance(payload, dict) else None
    made = message("JobRequest")
    if isinstance(rest, dict):
        try:
            ParseDict(rest, made, ignore_unknown_fields=True)
        except ParseError:  # somebody else's payload, which only looks like ours
            return message("JobRequest")
    return made
