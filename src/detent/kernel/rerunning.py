"""Running an ended job again: a new job that names the old one. Also how a lifecycle without a way back retries."""

from typing import Any

from msgspec.structs import replace

from detent.kernel.change import Change
from detent.kernel.clock import micros
from detent.kernel.command import Command, Rerun
from detent.kernel.creating import create
from detent.kernel.digest import derived_id
from detent.kernel.draft import Draft
from detent.kernel.failure import Error, is_retryable
from detent.kernel.job import Job
from detent.lifecycle import Lifecycle


def rerun(lifecycle: Lifecycle, job: Job, command: Rerun, now: int) -> Change:
    edited = {} if command.payload is None else {"payload": command.payload}
    run_at = now + micros(command.delay_s) if command.delay_s else None
    return _again(lifecycle, job, command, now, retries=0, id=command.new_job_id, run_at=run_at, **edited)


def rerun_failed(draft: Draft, error: Error) -> tuple[Change, ...]:
    """The change that queues a failed job anew, if its policy wants that and its attempts are not used up."""
    job, retry = draft.job, draft.job.spec.policy.retry.for_error(error.type)
    if not is_rerun(job, error):
        return ()
    run_at = draft.now + micros(retry.delay_s(job.retries + 1, draft.random))
    new_id = derived_id(job.spec.tenant, job.id, draft.events[-1].rev)
    retries = job.retries + 1  # carried on, so that the chain of jobs ends where one job's attempts would
    return (_again(draft.lifecycle, job, draft.command, draft.now, retries=retries, id=new_id, run_at=run_at),)


def is_rerun(job: Job, error: Error) -> bool:
    """Whether a job that fails with this is run again by itself, where its lifecycle has no way back."""
    policy = job.spec.policy
    if job.is_cancel_requested:
        return False  # whoever asked it to stop does not want it again
    if not policy.rerun_failed or not is_retryable(error.type, policy.error_classes):
        return False
    return job.retries + 1 < policy.retry.for_error(error.type).max_attempts


def _again(lifecycle: Lifecycle, job: Job, command: Command, now: int, *, retries: int, **edited: Any) -> Change:
    """The same spec, policy and all, under a new id, naming where it comes from."""
    spec = replace(job.spec, parent_job_id=job.id, **edited)
    role = lifecycle.table.start.default_role
    cause = command.reason if isinstance(command, Rerun) and command.reason else f"rerun of {job.id}"
    return create(lifecycle, spec, command, now, role=role, submit=True, retries=retries, rerun_of=job.id, cause=cause)
