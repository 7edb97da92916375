"""What is said about a job without moving it: late results, amendments, compensation, progress, artifacts.

Bounded in size.
"""

from typing import Any

from detent.errors import Refused
from detent.kernel.command import Command, Complete, Fail, RegisterArtifact, ReportProgress
from detent.kernel.digest import digest, digest_of
from detent.kernel.draft import actor_of
from detent.kernel.event import NOTE_BYTES_MAX, Note, NoteKind
from detent.kernel.failure import bounded
from detent.kernel.job import Job
from detent.lifecycle import Lifecycle
from detent.lifecycle.words import EVENT_TYPES, WORKING


def late_result(job: Job, command: Command, refused: Refused, now: int) -> Note | None:
    """The note that keeps a refused result, when it is one that came too late; None for every other refusal."""
    if refused.code == "request_conflict" or not is_late(job, command) or _holds_it(job, command, now):
        return None
    return _note(job, command, "late_result", "job_late_result", _said(command) | {"refused": refused.code}, now)


def is_amendment(job: Job, command: Command) -> bool:
    """A late result that the policy accepts: of the last attempt, from the worker that had it."""
    is_last = command.worker == job.last_owner and command.attempt in (None, job.attempt)
    return job.is_ended and job.spec.policy.accept_amendments and is_last and is_late(job, command)


def amendment(job: Job, command: Command, now: int) -> Note:
    return _note(job, command, "amendment", "job_amended", _said(command), now)


def progress(lifecycle: Lifecycle, job: Job, command: ReportProgress, now: int) -> Note:
    said = {"fraction": command.progress.fraction, "message": command.progress.message[:NOTE_BYTES_MAX]}
    return _note(job, command, "progress", _named(lifecycle, "progress"), said, now)


def artifact(lifecycle: Lifecycle, job: Job, command: RegisterArtifact, now: int) -> Note:
    """It belongs to the attempt that made it, whatever becomes of the job later."""
    said = {"name": command.name, "pointer": command.pointer, "size": command.size, "digest": command.digest}
    said |= {"attempt": job.attempt, "worker": job.owner}
    return _note(job, command, "artifact", _named(lifecycle, "artifact"), said, now)


def compensated(lifecycle: Lifecycle, job: Job, *, by_job_id: str, now: int) -> Note:
    """On the job whose work was undone, by the job that undid it."""
    kind = _named(lifecycle, "compensated")
    said = {"by_job_id": by_job_id}
    return Note(job.spec.tenant, job.id, job.rev, "compensated", kind, max(now, job.updated_at), by_job_id, said)


def is_late(job: Job, command: Command) -> bool:
    """A worker's result for a job that was claimed once, of an attempt that there was."""
    is_workers = command.worker is not None and command.role in (None, *WORKING)
    reports = isinstance(command, Complete | Fail) and is_workers
    return reports and job.attempt > 0 and (command.attempt is None or command.attempt <= job.attempt)


def _holds_it(job: Job, command: Command, now: int) -> bool:
    """Whether the lease is the caller's and live: then it asked for the wrong thing, and was not too late."""
    is_live = job.lease_expires_at is not None and now < job.lease_expires_at
    return is_live and command.worker == job.owner and command.attempt in (None, job.attempt)


def _named(lifecycle: Lifecycle, key: str) -> str:
    return lifecycle.events.get(key, EVENT_TYPES[key])


def _said(command: Command) -> dict[str, Any]:
    said: dict[str, Any] = {"verb": command.verb, "worker": command.worker, "attempt": command.attempt}
    if isinstance(command, Complete):
        kept = command.result[:NOTE_BYTES_MAX]
        said |= {"result": kept, "digest": digest(command.result), "is_whole": len(kept) == len(command.result)}
        said |= {"result_ptr": command.result_ptr, "execution_ms": command.execution_ms}
    if isinstance(command, Fail):
        error = bounded(command.error)
        said |= {"error": {"type": error.type, "message": error.message[:NOTE_BYTES_MAX], "code": error.code}}
        said |= {"digest": digest_of(command.error), "execution_ms": command.execution_ms}
    return said


def _note(job: Job, command: Command, kind: NoteKind, type_: str, payload: dict[str, Any], now: int) -> Note:
    actor = actor_of(command, command.role or "worker")
    return Note(job.spec.tenant, job.id, job.rev, kind, type_, max(now, job.updated_at), actor, payload)
