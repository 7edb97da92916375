"""What a received JobResult asks of the kernel: one command for each status."""

from typing import Any, Final, assert_never

from detent.errors import InvalidArgument
from detent.kernel import Error
from detent.kernel.command import Cancel, Claim, Command, Complete, Deny, Fail, Start, TimeOut
from detent.kernel.parse import REASON_CHARS_MAX, check_command
from detent.lifecycle.words import Role
from detent.wire.dispatch import JobResult

Arguments = dict[str, Any]
# The type of an error that came without a code. Like every unmapped type it counts as transient.
UNSPECIFIED: Final = "UnspecifiedError"


def command_for(
    result: JobResult,
    *,
    worker: str | None = None,
    attempt: int | None = None,
    expected_rev: int | None = None,
    request_id: str | None = None,
) -> Command:
    """`worker` is who holds the lease, where that is not who sent the result: a pool holds it for its workers.

    Every command names the role its status belongs to, so a sender that calls itself `operator` does not become one.
    Whether the sender may speak for that role is for the transport to check.
    """
    asked: Arguments = {
        "actor": result.worker_id, "attempt": attempt, "expected_rev": expected_rev, "request_id": request_id,
    }  # fmt: skip
    command = _command(result, asked, worker or result.worker_id)
    check_command(command)
    return command


def _command(result: JobResult, asked: Arguments, worker: str | None) -> Command:
    match result.status:
        case "DISPATCHED":  # an acknowledgement: whoever pulled the job has it
            return Claim(**asked, **_by_worker(result, worker, role="worker"))
        case "RUNNING":
            return Start(**asked, **_by_worker(result, worker))
        case "SUCCEEDED":
            return Complete(**asked, **_by_worker(result, worker), **_success(result))
        case "FAILED":
            return Fail(**asked, **_by_worker(result, worker), **_failure(result))
        case "CANCELLED":
            return Cancel(**asked, **_by_control(result, role="operator"), mode="hard")
        case "DENIED":
            return Deny(**asked, **_by_control(result, role="scheduler"), rule=result.error_code)
        case "TIMEOUT":
            return TimeOut(**asked, **_by_control(result, role="reconciler"))
        case "PENDING" | "SCHEDULED":
            raise InvalidArgument(
                f"a JobResult does not make job {result.job_id} {result.status}: the gateway accepts a job by its "
                "JobRequest, and the scheduler schedules it with the policy's verdict",
                code="status_not_reportable",
            )
        case _:
            assert_never(result.status)


def _by_worker(result: JobResult, worker: str | None, *, role: Role = "owner") -> Arguments:
    if worker is None:
        raise InvalidArgument(
            f"the {result.status} of job {result.job_id} names no worker_id; say who has the job",
            code="worker_required",
        )
    return {"worker": worker, "role": role}


def _by_control(result: JobResult, *, role: Role) -> Arguments:
    reason = result.error_message
    return {"role": role, "reason": reason[:REASON_CHARS_MAX] if reason else None}


def _success(result: JobResult) -> Arguments:
    if result.error_code is not None or result.error_message is not None:
        raise _contradiction(result, "an error")
    return {"result_ptr": result.result_ptr, "execution_ms": result.execution_ms}


def _failure(result: JobResult) -> Arguments:
    if result.result_ptr is not None:
        raise _contradiction(result, "a result_ptr")
    error = Error(result.error_code or UNSPECIFIED, result.error_message or "", code=result.error_code)
    return {"error": error, "execution_ms": result.execution_ms}


def _contradiction(result: JobResult, what: str) -> InvalidArgument:
    return InvalidArgument(
        f"the {result.status} of job {result.job_id} comes with {what}; a success has a result and no error, "
        "a failure an error and no result",
        code="contradictory_result",
    )
