"""The rules of stopping a job: request_cancel, cancel, dead_letter."""

from msgspec.structs import replace

from detent.kernel.change import Change
from detent.kernel.clock import earliest, micros
from detent.kernel.command import Cancel, Command, DeadLetter
from detent.kernel.draft import Draft
from detent.kernel.ending import end_cancelled, end_failure
from detent.kernel.failure import Error, ReasonCode, bounded, reason_of


def request_cancel(draft: Draft, command: Command) -> Change:
    """Leave word for the owner to stop by the end of the grace. Asking twice changes nothing."""
    job = draft.job
    if job.is_cancel_requested:
        return draft.done("unchanged")
    cancel_by = draft.now + micros(job.spec.policy.grace_s)
    columns = {"cancel_by": cancel_by, "wake_at": earliest(job.wake_at, cancel_by)}
    draft.move("request_cancel", draft.route.leg, columns)
    return draft.done()


def cancel(draft: Draft, command: Cancel) -> Change:
    end_cancelled(draft, draft.route, mode=command.mode)
    return draft.done()


def dead_letter(draft: Draft, command: DeadLetter) -> Change:
    said = command.error and bounded(command.error)
    error = said or draft.job.last_error or Error("DeadLettered", command.reason or "set aside")
    # What is said now wins over what was said of the last attempt.
    error = replace(error, reason_code=command.reason_code or error.reason_code, stage=command.stage or error.stage)
    end_failure(
        draft, "dead_letter", draft.route.leg, error, category="system", reason=_reason(draft, error),
        cause=command.reason,
    )  # fmt: skip
    return draft.done()


def _reason(draft: Draft, error: Error) -> ReasonCode:
    if draft.role in ("operator", "policy"):
        return "policy_violation"
    return reason_of(error.type, draft.job.spec.policy.error_classes)
