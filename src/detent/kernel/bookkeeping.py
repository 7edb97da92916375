"""What follows from the phase a job enters. A lifecycle cannot forget any of it: it never says any of it.

Each function returns the columns a move changes, and no others: they are the event's `changes`, and the log is long.
"""

from typing import Any

from detent.kernel.clock import earliest, micros
from detent.kernel.job import Job
from detent.lifecycle import Policy, State

Columns = dict[str, Any]


def time_limit_s(policy: Policy, state: State) -> float | None:
    """The job's own limit for the state, its run limit if the state is active, else the lifecycle's."""
    own = policy.timeouts.get(state.name)
    if own is None and state.phase == "active":
        own = policy.timeout_s
    return state.timeout_s if own is None else own


def take_lease(job: Job, state: State, now: int, *, worker: str, lease_s: float) -> Columns:
    """Entering a leased phase by claim: the lease is taken and the attempt counted."""
    columns: Columns = {
        "phase": state.phase,
        "attempt": job.attempt + 1,
        "owner": worker,
        "lease_s": lease_s,
        "claimed_at": now,
        "claim_at": None,
        "order_at": None,
        "due_at": None,
    }
    return extend_lease(_enter_state(columns, job, state, now), job, now, lease_s)


def go_on(job: Job, state: State, now: int) -> Columns:
    """From one leased state to the next, under the same lease. A start is the first heartbeat."""
    return extend_lease(_enter_state({"phase": state.phase}, job, state, now), job, now, job.lease_s)


def renew_lease(job: Job, now: int) -> Columns:
    return extend_lease({}, job, now, job.lease_s)


def extend_lease(columns: Columns, job: Job, now: int, lease_s: float | None) -> Columns:
    """Add the lease's new end, and the moment at which two heartbeats in a row will have been missed."""
    policy = job.spec.policy
    lasts, missed = policy.lease_terms
    if lease_s is not None and lease_s != policy.lease_s:
        # A claim may ask for another lease than the job type's. Missing a short lease's end is missing enough.
        lasts = micros(lease_s)
        missed = min(missed, lasts)
    columns["lease_expires_at"] = now + lasts
    columns["heartbeat_by"] = missed = now + missed
    deadline = columns.get("deadline_at", job.deadline_at)
    if deadline is None and job.cancel_by is None:
        columns["wake_at"] = missed
    else:
        columns["wake_at"] = earliest(missed, deadline, job.cancel_by)
    return columns


def wait(job: Job, state: State, now: int, *, due: int | None, claimable: bool) -> Columns:
    """Entering ready or parked. `due`: when it goes on by itself; None: it waits for a signal."""
    columns = _drop_lease(job) if job.owner is not None else {}
    columns["phase"] = state.phase
    columns["due_at"] = due
    if claimable and due is not None:
        columns["claim_at"] = due
        columns["order_at"] = order(job, due)
    else:
        columns["claim_at"] = columns["order_at"] = None
    deadline = columns["deadline_at"] = _deadline(job, state, due if due is not None else now)
    columns["wake_at"] = earliest(due, deadline) if state.phase == "parked" else deadline
    return columns


def end(job: Job, state: State, now: int) -> Columns:
    columns = _drop_lease(job) if job.owner is not None else dict.fromkeys(("due_at", "claim_at", "order_at"))
    columns["phase"] = state.phase
    columns["ended_at"] = now
    columns["wake_at"] = None
    if job.deadline_at is not None:
        columns["deadline_at"] = None
    return columns


def order(job: Job, due: int) -> int:
    """Its place in the queue, fixed when it becomes ready. A step of priority is worth `aging_s` of waiting."""
    spec = job.spec
    return due - micros(spec.priority * spec.policy.aging_s) if spec.priority else due


def _enter_state(columns: Columns, job: Job, state: State, now: int) -> Columns:
    if state.phase == "active":
        columns["started_at"] = now
    deadline = _deadline(job, state, now)
    if deadline != job.deadline_at:
        columns["deadline_at"] = deadline
    return columns


def _drop_lease(job: Job) -> Columns:
    columns: Columns = {
        "owner": None,
        "lease_s": None,
        "lease_expires_at": None,
        "heartbeat_by": None,
        "last_owner": job.owner,
        "last_lease_expires_at": job.lease_expires_at,
    }
    if job.cancel_by is not None:
        columns["cancel_by"] = None
    return columns


def _deadline(job: Job, state: State, since: int) -> int | None:
    policy = job.spec.policy
    if state.timeout_s is None and policy.timeout_s is None and not policy.timeouts:
        return None
    limit_s = time_limit_s(policy, state)
    return None if limit_s is None else since + micros(limit_s)
