"""What compensation means for a plan: which job an end brings along, what its success says, what may be run again."""

from functools import partial

from msgspec.structs import replace

from detent.kernel import Change, Job
from detent.kernel.compensating import check_compensation, compensated_by, compensation, is_owed, with_payload
from detent.kernel.notes import compensated
from detent.lifecycle.soundness import check_policy
from detent.store.facts import WorkingCopy
from detent.store.spawning import with_free_id


def is_concerned(change: Change) -> bool:
    """Whether a change may bring a compensation along, or be its success. Asked of every change, so it is short."""
    policy = change.before.spec.policy
    if policy.compensate is None and not policy.is_compensation:
        return False
    return bool(change.events) and change.events[-1].changes.get("phase") == "ended"


def brought_along(change: Change, copy: WorkingCopy) -> Change:
    """The end of a job with what follows from it: a compensation, or word of one that succeeded.

    The log of the job says which job goes on with it, so that it can be judged without the others.
    """
    job = change.job
    if job.spec.policy.is_compensation:
        return _reported(change, job, copy)
    if not is_owed(job, partial(copy.job, job.spec.tenant)):
        return change
    if change.spawned:
        return with_payload(change, {"rerun_job_id": change.spawned[0].before.id})
    declared = job.spec.policy.compensate
    assert declared is not None, "what is owed was declared"
    lifecycle = copy.lifecycle(declared.lifecycle, declared.lifecycle_version)
    made = with_free_id(compensation(lifecycle, change, job), copy)
    return replace(with_payload(change, {"compensation_job_id": made.before.id}), spawned=(made,))


def _reported(change: Change, job: Job, copy: WorkingCopy) -> Change:
    """A compensation that succeeded is noted on the job it was for."""
    undone = compensated_by(job, partial(copy.job, job.spec.tenant)) if job.outcome == "success" else None
    if undone is None or undone.outcome in (None, "success"):
        return change
    lifecycle = copy.lifecycle(undone.spec.lifecycle, undone.spec.lifecycle_version)
    note = compensated(lifecycle, undone, by_job_id=job.id, now=change.events[-1].at)
    return replace(change, notes=(*change.notes, note))


def check_declared(change: Change, copy: WorkingCopy) -> None:
    """A new job's compensation has to be possible from the start: when the job ends is too late to find out."""
    if change.before.spec.policy.compensate is not None:
        check_policy(*check_compensation(change.before.spec.policy, copy.lifecycle))


def conflict(old: Job, copy: WorkingCopy) -> str | None:
    """Why a job must not be run again: its work is still to be undone; or, of a compensation, is undone already."""
    job_of = partial(copy.job, old.spec.tenant)
    if old.spec.policy.is_compensation:
        undone = compensated_by(old, job_of)
        if undone is not None and _is_undone(undone, copy):
            return f"the work of job {undone.id} is undone already"
    elif is_owed(old, job_of) and not _is_undone(old, copy):
        return f"the work of job {old.id} is not undone yet; wait for its compensation, or run that again if it failed"
    return None


def _is_undone(job: Job, copy: WorkingCopy) -> bool:
    return bool(copy.noted(job.spec.tenant, job.id, "compensated"))
