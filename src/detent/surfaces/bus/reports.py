"""What a pool says of a job, as commands to the kernel: a result, or how far along it is.

Its workers say for the pool what they say: the pool holds the lease, and the record names the worker that did it.
"""

from typing import Any, Final

from msgspec import structs

from detent.client.arguments import is_name
from detent.errors import InvalidArgument
from detent.kernel import Error, Job
from detent.kernel.command import Cancel, Command, Fail, RegisterArtifact, ReportProgress, Start
from detent.kernel.failure import MESSAGE_CHARS_MAX
from detent.kernel.job import Progress
from detent.kernel.parse import REASON_CHARS_MAX
from detent.lifecycle.bounds import NAME_CHARS_MAX
from detent.surfaces.bus.packets import Packet
from detent.surfaces.bus.requests import topic_of
from detent.wire.bounds import POINTER_CHARS_MAX
from detent.wire.dispatch import JobResult
from detent.wire.reporting import command_for
from detent.wire.shape import read

RUNNING: Final = 4
STATUSES: Final = {
    1: "PENDING", 2: "SCHEDULED", 3: "DISPATCHED", RUNNING: "RUNNING", 5: "SUCCEEDED", 6: "FAILED", 7: "CANCELLED",
    8: "DENIED", 9: "TIMEOUT", 10: "FAILED", 11: "FAILED",
}  # fmt: skip
NUMBERS: Final = {status: number for number, status in reversed(STATUSES.items())}
# What the worker knows about its error, in the words of the kernel.
_CLASSES: Final = {10: "TransientError", 11: "PermanentError"}
# Not for a worker to say of a job: for it they are ways to have failed.
_OTHERS: Final = frozenset({"CANCELLED", "DENIED", "TIMEOUT"})
_EARLIER: Final = frozenset({"PENDING", "SCHEDULED", "DISPATCHED"})
ARTIFACTS_MAX: Final = 100
_PERCENT: Final = 100


def commands_of(packet: Packet, job: Job) -> list[Command]:
    """All of them together, or none: what comes first is what the last one rests on. None: there is nothing to do."""
    if packet.kind == "job_progress":
        return _progressing(packet, job)
    return _resulting(packet, job)


def _resulting(packet: Packet, job: Job) -> list[Command]:
    told = packet.message
    status = STATUSES.get(told.status)
    if status is None:
        raise InvalidArgument(f"the result of job {job.id} has the status {told.status}, which there is not")
    if status in _EARLIER:
        return []
    fence = _fence(packet, job)
    if status in _OTHERS:
        return [_ended_otherwise(packet, job, status, fence)]
    command = command_for(_result(told, status), worker=topic_of(job), attempt=fence["attempt"])
    if isinstance(command, Fail):
        command = structs.replace(command, error=_error(told))
    command = structs.replace(command, actor=fence["actor"])
    # A result is of a job that runs: what its worker made belongs to it as well.
    return [command] if status == "RUNNING" else [*_artifacts(told, fence), command]


def _result(told: Any, status: str) -> JobResult:
    """A success is one whatever else is said of an error, and a failure has no result."""
    said: dict[str, Any] = {"job_id": told.job_id, "status": status, "worker_id": told.worker_id}
    said["execution_ms"] = told.execution_ms if told.execution_ms > 0 else None
    if status == "SUCCEEDED":
        said["result_ptr"] = told.result_ptr or told.result_ref.uri or None
    return read(JobResult, said)


def _error(told: Any) -> Error:
    code = told.error_code if is_name(told.error_code) else _numbered(told)
    kind = _CLASSES.get(told.status) or code or "UnspecifiedError"
    return Error(kind, storable(told.error_message, MESSAGE_CHARS_MAX), code=code)


def _numbered(told: Any) -> str | None:
    """The protocol's number for what went wrong, of a worker that says no more."""
    return f"CAP_{told.error_code_enum}" if told.error_code_enum else None


def _ended_otherwise(packet: Packet, job: Job, status: str, fence: dict[str, Any]) -> Command:
    """A worker that was asked to stop, and did, is the owner that cancels. Unasked, it has failed."""
    told = packet.message
    if status == "CANCELLED" and job.cancel_by is not None:
        return Cancel(**fence, reason=storable(told.error_message, REASON_CHARS_MAX) or None)
    code = told.error_code if is_name(told.error_code) else status
    text = storable(told.error_message, MESSAGE_CHARS_MAX) or f"its worker says {status}"
    return Fail(**fence, error=Error(code, text, code=code))


def _progressing(packet: Packet, job: Job) -> list[Command]:
    """The first one implies the start."""
    told, fence = packet.message, _fence(packet, job)
    if not 0 <= told.percent <= _PERCENT:
        raise InvalidArgument(f"the progress of job {job.id} is {told.percent}; use 0 to {_PERCENT}")
    said = ReportProgress(**fence, progress=Progress(told.percent / _PERCENT, storable(told.message, REASON_CHARS_MAX)))
    started: list[Command] = [Start(**fence)] if job.phase == "held" else []
    return [*started, said, *_artifacts(told, fence)]


def _artifacts(told: Any, fence: dict[str, Any]) -> list[Command]:
    pointers = list(dict.fromkeys([*told.artifact_ptrs, *(each.uri for each in told.artifact_refs if each.uri)]))
    if len(pointers) > ARTIFACTS_MAX:
        raise InvalidArgument(f"{len(pointers)} artifacts came at once; send at most {ARTIFACTS_MAX}")
    names = [pointer.rpartition("/")[2][:NAME_CHARS_MAX] or "artifact" for pointer in pointers]
    return [
        RegisterArtifact(**fence, name=name, pointer=pointer[:POINTER_CHARS_MAX])
        for name, pointer in zip(names, pointers, strict=True)
    ]


def _fence(packet: Packet, job: Job) -> dict[str, Any]:
    """Of the attempt that the worker was given, if it says so. A job of `dispatch` has one at most."""
    told = packet.message.dispatch.attempt
    return {"worker": topic_of(job), "role": "owner", "attempt": told or job.attempt, "actor": packet.sender_id}


def unrecordable(packet: Packet, job: Job, why: InvalidArgument) -> Command:
    """Its worker is done with the job, so that it must not be left to run out."""
    text = f"its worker's result cannot be recorded: {why}"
    error = Error("PermanentError", storable(text, MESSAGE_CHARS_MAX), code="bad_result")
    return Fail(**_fence(packet, job), error=error)


def storable(text: str, chars_max: int) -> str:
    """Free text as every store can keep it."""
    return text.replace("\0", "")[:chars_max]
