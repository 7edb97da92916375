"""Undoing the work of a job that ended without success, by the job that its policy names. What is owed, and to whom.

A job is compensated once, by whoever ends it: an end happens once, and what it brings along is part of the same change.
One that is run again by itself is not: the work goes on there, and the last of the chain is compensated for all.
"""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from detent.kernel.change import Change
from detent.kernel.command import Command
from detent.kernel.creating import create, limit_key_of
from detent.kernel.digest import derived_id
from detent.kernel.job import Job
from detent.lifecycle import Lifecycle

# The job of an id, in the tenant of the one it is asked for; None if it is not there any more.
JobOf = Callable[[str], Job | None]


def is_owed(job: Job, job_of: JobOf) -> bool:
    """Whether an ended job has work to be undone that it says how to undo."""
    declares = job.spec.policy.compensate is not None
    return declares and job.outcome in ("failure", "cancelled") and _has_run(job, job_of)


def compensation(lifecycle: Lifecycle, change: Change, job: Job) -> Change:
    """The job that undoes this one, which the change ends. `lifecycle` is the one that its policy names.

    It is given the job's own payload, as it is: nobody but the handlers can read it. All else that it may need is on
    the record of the job it names as its parent, which has ended and stays as it is.
    """
    spec, last, declared = job.spec, change.events[-1], job.spec.policy.compensate
    assert declared is not None, "asked for what is owed only"
    policy = replace(declared.policy or lifecycle.defaults, compensate=None, is_compensation=True)
    own = replace(
        spec,
        id=derived_id(spec.tenant, spec.id, job.rev, "compensation"),
        kind=declared.kind,
        lifecycle=lifecycle.name,
        lifecycle_version=lifecycle.version,
        policy=policy,
        queue=declared.queue or spec.queue,
        run_at=_not_before(change, last.at),
        dedupe_key=None,
        limit_key=limit_key_of(declared.kind, policy),
        parent_job_id=spec.id,
    )
    asked = Command(
        actor=last.actor, trace_id=last.trace_id, request_id=own.id if lifecycle.requires_rev else None
    )  # a request id that the job's end came with was for that
    role, cause = lifecycle.table.start.default_role, f"compensation of {spec.id}"
    return create(lifecycle, own, asked, last.at, role=role, submit=True, cause=cause)


def with_payload(change: Change, said: dict[str, Any]) -> Change:
    """The change, with something more said by its last event."""
    *others, last = change.events
    return replace(change, events=(*others, replace(last, payload=(last.payload or {}) | said)))


def job_undone_by(job: Job, job_of: JobOf) -> Job | None:
    """The job whose work a compensation undoes. One that runs a compensation again undoes the same."""
    seen = {job.id}
    while job.rerun_of is not None:
        earlier = job_of(job.rerun_of)
        if earlier is None or earlier.id in seen:
            return None
        seen.add(earlier.id)
        job = earlier
    return None if job.spec.parent_job_id is None else job_of(job.spec.parent_job_id)


def _has_run(job: Job, job_of: JobOf) -> bool:
    """Whether it was started at least once, or one that it was made to run again by itself."""
    while job.started_at is None:
        if job.rerun_of is None or not job.retries:
            return False
        earlier = job_of(job.rerun_of)
        if earlier is None:
            return True  # nobody knows any more, and undoing nothing is better than leaving something
        if job.id != derived_id(job.spec.tenant, earlier.id, earlier.rev):
            return False  # run again by somebody, which is a new beginning
        job = earlier
    return True


def _not_before(change: Change, now: int) -> int | None:
    """Whoever else ends a job, its owner may not know yet. It stops by the end of its lease, so that comes first."""
    until = None if change.needs_lease else change.before.lease_expires_at
    return until if until is not None and until > now else None
