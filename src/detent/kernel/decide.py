"""Where a move is decided. One function; everything else carries commands to it and changes away from it."""

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from detent.errors import InvalidArgument, Refused
from detent.kernel import advancing, losing, stopping
from detent.kernel.budget import is_waiting_for_a_person
from detent.kernel.change import Change, Receipt
from detent.kernel.checks import reason_to_refuse, role_of
from detent.kernel.command import Cancel, Command, Enqueue, Rerun
from detent.kernel.creating import create, enqueue_role, spec_of
from detent.kernel.draft import Draft
from detent.kernel.job import Job, Spec
from detent.kernel.notes import amendment, is_amendment
from detent.kernel.repeating import is_repeat, is_settled, receipt_of
from detent.kernel.rerunning import rerun
from detent.lifecycle import Lifecycle
from detent.lifecycle.soundness import check_policy
from detent.lifecycle.table import Route
from detent.lifecycle.words import ROLES, WORKING

# Each rule takes its own verb's command, which the tag guarantees.
RULES: Final[dict[str, Callable[[Draft, Any], Change | None]]] = {
    "submit": advancing.submit,
    "schedule": advancing.schedule,
    "approve": advancing.approve,
    "deny": advancing.deny,
    "claim": advancing.claim,
    "start": advancing.start,
    "renew": advancing.renew,
    "complete": advancing.complete,
    "progress": advancing.progress,
    "artifact": advancing.artifact,
    "fail": losing.fail,
    "retry": losing.retry,
    "release": losing.release,
    "stall": losing.stall,
    "requeue": losing.requeue,
    "expire": losing.expire,
    "time_out": losing.time_out,
    "request_cancel": stopping.request_cancel,
    "cancel": stopping.cancel,
    "dead_letter": stopping.dead_letter,
}
_ROLES: Final = frozenset(ROLES)
# Who cancels outright even when asked to be soft: the worker that stops, and the system when the grace is over.
_OUTRIGHT: Final = WORKING | {"reconciler"}


def decide(
    lifecycle: Lifecycle,
    job: Job | None,
    command: Command,
    now: int,
    random: float = 0.5,
    receipt: Receipt | None = None,
) -> Change | Refused:
    """What happens to this job on this command at this moment: a change to write, or a refusal that writes nothing.

    `job` is None for an enqueue, unless its id or its dedupe key is taken: then it is the job that has it.
    `random`, from 0 to 1, is the jitter's share. `receipt` is what is remembered of the command's request id; with it
    `job` is the job that it names.
    """
    if receipt is not None and job is not None:
        return _repeat(lifecycle, job, command, receipt)
    if job is None or command.verb == "enqueue":
        return _enqueue(lifecycle, job, command, now)
    if job.spec.lifecycle != lifecycle.name or job.spec.lifecycle_version != lifecycle.version:
        raise _wrong_lifecycle(lifecycle, job)
    if now < job.updated_at:
        now = job.updated_at  # ALL-13: a clock that steps back does not reorder a job's story
    routes = lifecycle.table.routes[job.state]
    route = routes.get(command.verb)
    if route is None:
        return _undeclared(lifecycle, job, command, now)
    role = role_of(route, job, command)
    if isinstance(command, Cancel) and command.mode == "soft" and role not in _OUTRIGHT:
        route = routes.get("request_cancel", route)
    code = reason_to_refuse(lifecycle, job, command, route, role, now)
    if code is not None:
        return refuse(lifecycle, job, command, code, route)
    change = RULES[route.verb](Draft(lifecycle, job, job, command, route, role, now, random), command)
    if change is None:
        return refuse(lifecycle, job, command, "illegal_move", route)
    return change if command.request_id is None else _remembered(lifecycle, change, command)


def refuse(lifecycle: Lifecycle, job: Job, command: Command, code: str, route: Route | None = None) -> Refused:
    return Refused(
        code,
        job_id=job.id,
        verb=command.verb,
        state=job.state,
        # An enqueue may meet a job of another lifecycle, of which this one knows nothing.
        allowed=lifecycle.table.allowed.get(job.state, ()),
        lifecycle=lifecycle.name,
        detail=_detail(job, code, route),
    )


def _detail(job: Job, code: str, route: Route | None) -> str:
    """More than the code says, where there is more to say."""
    if route is None or code not in ("wrong_actor", "illegal_move"):
        return ""
    if code == "illegal_move":
        return "its attempts are used up, and this role has no move that could end it"
    if route.verb == "requeue" and is_waiting_for_a_person(job):
        return "its attempts are used up, so it waits for a person; have an operator requeue it"
    return f"it is given to {', '.join(route.by)}"


def _wrong_lifecycle(lifecycle: Lifecycle, job: Job) -> InvalidArgument:
    own, other = f"{job.spec.lifecycle} v{job.spec.lifecycle_version}", f"{lifecycle.name} v{lifecycle.version}"
    message = f"job {job.id} follows {own} and cannot be decided by {other}; look its own definition up"
    return InvalidArgument(message, code="wrong_lifecycle")


def _repeat(lifecycle: Lifecycle, job: Job, command: Command, receipt: Receipt) -> Change | Refused:
    """The same request again answers with the job as it is now; another one under its id is refused."""
    if not is_repeat(lifecycle, command, receipt):
        return refuse(lifecycle, job, command, "request_conflict")
    return Change(job, (), answer="repeat")


def _undeclared(lifecycle: Lifecycle, job: Job, command: Command, now: int) -> Change | Refused:
    """No such verb from this state. It may still be a rerun, a repeat that settles, or an accepted amendment."""
    if isinstance(command, Rerun) and job.is_ended:
        if command.expected_rev not in (None, job.rev):
            return refuse(lifecycle, job, command, "stale_rev")
        return _remembered(lifecycle, rerun(lifecycle, job, command, now), command)
    if lifecycle.settles_repeats and is_settled(lifecycle, job, command, now):
        return _remembered(lifecycle, Change(job, (), answer="unchanged"), command)
    if is_amendment(job, command):
        return _remembered(lifecycle, Change(job, (), answer="noted", notes=(amendment(job, command, now),)), command)
    return refuse(lifecycle, job, command, "illegal_move")


def _enqueue(lifecycle: Lifecycle, existing: Job | None, command: Command, now: int) -> Change | Refused:
    if not isinstance(command, Enqueue):
        raise InvalidArgument(f"'{command.verb}' needs a job to act on", code="job_required")
    role = enqueue_role(lifecycle.table.start, command, _ROLES)
    if role not in lifecycle.table.start.roles:
        return _refuse_enqueue(
            lifecycle, command, "wrong_actor", f"enqueue is given to {', '.join(lifecycle.table.start.by)}"
        )
    if command.policy is not None:
        check_policy(lifecycle, command.policy)
    if existing is None:
        return _remembered(
            lifecycle,
            create(lifecycle, spec_of(lifecycle, command, now), command, now, role=role, submit=command.submit),
            command,
        )
    if existing.id != command.job_id:
        return _remembered(lifecycle, Change(existing, (), answer="duplicate"), command)
    if lifecycle.settles_repeats and _is_same_job(existing, spec_of(lifecycle, command, now)):
        return _remembered(lifecycle, Change(existing, (), answer="unchanged"), command)
    return refuse(lifecycle, existing, command, "job_exists")


def _is_same_job(job: Job, spec: Spec) -> bool:
    """Whether the request would have made this job. Its trace may differ: a repeat is another call."""
    return job.spec == replace(spec, trace_id=job.spec.trace_id)


def _refuse_enqueue(lifecycle: Lifecycle, command: Enqueue, code: str, detail: str) -> Refused:
    return Refused(
        code, job_id=command.job_id, verb="enqueue", state=None, allowed=(), lifecycle=lifecycle.name, detail=detail
    )


def _remembered(lifecycle: Lifecycle, change: Change, command: Command) -> Change:
    rev = change.before.rev + len(change.events)
    receipt = receipt_of(lifecycle, command, job_id=change.before.id, rev=rev)
    return change if receipt is None else replace(change, receipt=receipt)
