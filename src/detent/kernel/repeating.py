"""Telling a repeat from a new request: by its request id or, where a lifecycle settles repeats, by its content."""

from typing import Final

from msgspec.structs import replace

from detent.kernel.change import Receipt
from detent.kernel.clock import micros
from detent.kernel.command import Claim, Command, Complete, Deny, Enqueue, Fail, Schedule, Start
from detent.kernel.digest import digest, digest_of
from detent.kernel.failure import Error, bounded
from detent.kernel.job import NULL, Job
from detent.lifecycle import Lifecycle
from detent.lifecycle.words import ROLES, WORKING

VALUES: Final = ("payload", "result", "checkpoint")


def fingerprint(lifecycle: Lifecycle, command: Command) -> str:
    """The content of a request: lifecycle, verb and arguments, whatever revision it came with, and whoever asked."""
    content = replace(whoever_asked(command), expected_rev=None)
    if command.value_digest is not None:
        content = replace(content, **{name: NULL for name in VALUES if getattr(content, name, None) is not None})
    return digest_of((lifecycle.name, lifecycle.version, content))


def whoever_asked(command: Command) -> Command:
    """What was asked, and as what. By whom, with which grant and in which trace is no part of it: a token is replaced,
    and two operators redrive one dead letter. Where nobody has judged, an actor that is a bare role's name is a role.
    """
    role = command.role
    if role is None and command.granted is None and command.actor in ROLES:
        role = command.actor  # type: ignore[assignment]
    return replace(command, request_id=None, trace_id=None, actor=None, granted=None, role=role)


def is_repeat(lifecycle: Lifecycle, command: Command, receipt: Receipt) -> bool:
    return receipt.request_id == command.request_id and receipt.digest == fingerprint(lifecycle, command)


def receipt_of(lifecycle: Lifecycle, command: Command, *, job_id: str, rev: int) -> Receipt | None:
    if command.request_id is None:
        return None
    return Receipt(command.request_id, fingerprint(lifecycle, command), job_id, rev)


def still_held(jobs: list[Job], claimed: dict[str, int], worker: str) -> list[Job]:
    """What a repeated claim answers with: those of its first jobs that it still holds. Never more."""
    return [job for job in jobs if job.owner == worker and claimed.get(job.id) == job.attempt]


def is_settled(lifecycle: Lifecycle, job: Job, command: Command, now: int) -> bool:
    """Whether the job is already where the command would take it, with the same content (DSP-05)."""
    is_there = job.state in _reached_by(lifecycle, command)
    if not is_there or not _may_ask(lifecycle, command):
        return False
    match command:
        case Enqueue():
            return False
        case Claim():
            same = not command.start and command.lease_s in (None, job.lease_s)
            return same and _is_holder(job, command, now)
        case Start():
            is_fenced = command.attempt is not None or command.expected_rev == job.rev
            return is_fenced and _is_holder(job, command, now)
        case Complete():
            same = (job.result_digest, job.result_ptr) == (digest(command.result), command.result_ptr)
            return same and _was_holder(job, command)
        case Fail():
            return _was_holder(job, command) and job.error is not None and _is_same_error(job.error, command.error)
        case Schedule():
            return _is_same_verdict(job, command)
        case Deny():
            return command.rule in (None, job.rule)
        case _:
            return True


def _reached_by(lifecycle: Lifecycle, command: Command) -> frozenset[str]:
    """Where the command leads. A verdict that denies goes on to where deny leads."""
    verb = "deny" if isinstance(command, Schedule) and command.verdict == "deny" else command.verb
    return lifecycle.table.targets.get(verb, frozenset())


def _is_same_verdict(job: Job, command: Schedule) -> bool:
    """The same verdict by the same rule, and, unless it was held or denied, due at the same time."""
    if (job.verdict, job.rule) != (command.verdict, command.rule):
        return False
    if job.due_at is None:
        return True
    delay_s = command.delay_s if command.verdict == "throttle" else 0
    return job.due_at == max(job.updated_at + micros(delay_s), job.spec.run_at or 0)


def _is_same_error(kept: Error, told: Error) -> bool:
    told = bounded(told)
    return (kept.type, kept.message, kept.code) == (told.type, told.message, told.code)


def _is_holder(job: Job, command: Command, now: int) -> bool:
    """The owner, by a lease that is live: one that woke up too late must not hear that all is well."""
    is_live = job.lease_expires_at is not None and now < job.lease_expires_at
    return is_live and command.worker == job.owner and command.attempt in (None, job.attempt)


def _was_holder(job: Job, command: Command) -> bool:
    return command.worker is not None and command.worker == job.last_owner and command.attempt in (None, job.attempt)


def _may_ask(lifecycle: Lifecycle, command: Command) -> bool:
    """Only someone who could have made the move may hear that it is made."""
    by = {role for move in lifecycle.moves if move.verb == command.verb for role in move.by}
    if command.granted is not None and by.isdisjoint(WORKING if command.worker is not None else command.granted):
        return False
    role: str | None = command.role
    if role is None:
        role = command.actor if command.actor in ROLES else "worker" if command.worker is not None else None
    if role in WORKING:
        return bool(by & WORKING)
    return role is None or role in by
