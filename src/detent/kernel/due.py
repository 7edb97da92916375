"""What time demands of a job: the command the system gives by itself. A reconciler only carries it out."""

from typing import Any

from detent.kernel.command import COMMANDS, Cancel, Command
from detent.kernel.job import Job
from detent.lifecycle import Lifecycle


def due_command(lifecycle: Lifecycle, job: Job, now: int) -> Command | None:
    """Fenced by attempt and revision, so that a reconciler that looked too early changes nothing."""
    if job.wake_at is None or now < job.wake_at:
        return None
    if job.cancel_by is not None and now >= job.cancel_by:
        return Cancel(**_by_reconciler(job, "cancel requested, grace over"), mode="hard")
    verb, reason = _answer(lifecycle, job)
    return COMMANDS[verb](**_by_reconciler(job, reason))


def _answer(lifecycle: Lifecycle, job: Job) -> tuple[str, str]:
    """Of what is due, the first that fell due: a lease that ran out, a time limit, or the end of a wait."""
    if job.is_leased and (job.deadline_at is None or _orphaned_at(job) < job.deadline_at):
        return lifecycle.on_expiry, f"no heartbeat from {job.owner}"
    if job.phase == "parked" and job.due_at is not None:
        # Its time limit, if it has one, starts to run only then, so it cannot have fallen due before.
        return "requeue", "wait is over"
    return lifecycle.on_timeout, f"time in '{job.state}' is over"


def _orphaned_at(job: Job) -> int:
    assert job.heartbeat_by is not None, "a leased job has a heartbeat to miss"
    return job.heartbeat_by


def _by_reconciler(job: Job, reason: str) -> dict[str, Any]:
    return {
        "role": "reconciler",
        "actor": "reconciler",
        "attempt": job.attempt,
        "expected_rev": job.rev,
        "reason": reason,
    }
