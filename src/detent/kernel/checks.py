"""The reasons to refuse a verb that the state declares, in the order in which they are given."""

from collections.abc import Callable
from typing import Final

from detent.kernel import budget
from detent.kernel.command import Command
from detent.kernel.job import Job
from detent.lifecycle import Lifecycle
from detent.lifecycle.table import Route
from detent.lifecycle.words import NOTING, ROLES, SYSTEM, WORKING, Role

NOBODY: Final = "nobody"  # no lifecycle gives a verb to it
_ROLES: Final = frozenset(ROLES)
# What needs no revision even where the lifecycle demands one: who claims has not read the job, and a note is no move.
_NO_REV: Final = frozenset({"claim", *NOTING})


def role_of(route: Route, job: Job, command: Command) -> str:
    """The role given; a bare role name as actor; worker if a worker asks; else the row's first other role.

    Whether a worker is the owner is for the record to say, not for the worker.
    """
    if command.granted is not None:
        return _granted_role(route, job, command, command.granted)
    if command.role is not None:
        role: str = command.role
    elif command.actor is not None and command.actor in _ROLES:
        role = command.actor
    elif command.worker is not None:
        role = "worker"
    else:
        return route.default_role
    if role in WORKING:
        return "owner" if command.worker is not None and command.worker == job.owner else "worker"
    return role


def _granted_role(route: Route, job: Job, command: Command, granted: frozenset[Role]) -> str:
    """One that the asker may act in, or nobody's. What it calls itself counts for nothing here."""
    wanted = command.role or ("worker" if command.worker is not None else None)
    if wanted is None:
        return next((role for role in route.by if role in granted and role not in WORKING), NOBODY)
    if wanted in WORKING:
        is_owner = command.worker is not None and command.worker == job.owner
        return NOBODY if "worker" not in granted else "owner" if is_owner else "worker"
    return wanted if wanted in granted else NOBODY


def reason_to_refuse(lifecycle: Lifecycle, job: Job, command: Command, route: Route, role: str, now: int) -> str | None:
    """The first reason that applies, or None. One question after the other, in the order of ALL-06."""
    if role not in route.roles and (job.cancel_by is None or role not in route.roles_after_cancel):
        return "wrong_actor"
    verb = route.verb
    if verb == "requeue" and role in SYSTEM and budget.is_waiting_for_a_person(job):
        return "wrong_actor"  # its budget is used up; the system must not send it round again
    is_owner_asked = route.owner_only and role in WORKING
    if command.expected_rev is None:
        if lifecycle.requires_rev and verb not in _NO_REV:
            return "rev_required"
        if is_owner_asked and command.attempt is None and job.owner is not None:
            return "fence_required"
    if is_owner_asked and (command.worker is None or command.worker != job.owner):
        return "not_owner"
    if command.attempt is not None and command.attempt != job.attempt:
        # Tells a restarted worker of the same name, or a reconciler that looked too early, from the real thing.
        return "not_owner"
    if is_owner_asked and job.lease_expires_at is not None and now >= job.lease_expires_at:
        return "lease_expired"
    if command.expected_rev is not None and command.expected_rev != job.rev:
        return "stale_rev"
    is_due = _DUE.get(verb)
    if is_due is not None and not is_due(lifecycle, job, role, now):
        return "not_due"
    return None


def _past(moment: int | None, now: int) -> bool:
    return moment is not None and now >= moment


def is_orphaned(job: Job, now: int) -> bool:
    """The lease is over, or two heartbeats in a row were missed."""
    return _past(job.lease_expires_at, now) or _past(job.heartbeat_by, now)


def _requeue_due(lifecycle: Lifecycle, job: Job, role: str, now: int) -> bool:
    return not lifecycle.by_name[job.state].timer or _past(job.due_at, now)


def _cancel_due(lifecycle: Lifecycle, job: Job, role: str, now: int) -> bool:
    # Once asked to stop gracefully, the worker has its grace; the reconciler does not cut it short.
    return role != "reconciler" or job.cancel_by is None or now >= job.cancel_by


_DUE: Final[dict[str, Callable[[Lifecycle, Job, str, int], bool]]] = {
    "claim": lambda lifecycle, job, role, now: _past(job.claim_at, now),
    "expire": lambda lifecycle, job, role, now: is_orphaned(job, now),
    "time_out": lambda lifecycle, job, role, now: _past(job.deadline_at, now),
    "requeue": _requeue_due,
    "cancel": _cancel_due,
}
