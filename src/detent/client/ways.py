"""What would move a job: the verbs its state has, where each leads, who may ask, and when time itself asks."""

from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from detent.client.limits import room_maker
from detent.client.reasons import Facts, Reason
from detent.client.views import Job
from detent.lifecycle import Lifecycle
from detent.lifecycle.describe import rows


class Way(Struct, frozen=True, omit_defaults=True):
    """`to` has more than one state where it depends, on the budget for one. `at`: the system asks then, by itself; of a
    claim, when it can be had. `when`: what has to happen before, where no clock knows.
    """

    verb: str
    to: list[str]
    by: list[str]
    at: datetime | None = None
    when: str | None = None


def ways_of(job: Job, facts: Facts, reasons: list[Reason]) -> list[Way]:
    """Self-moves are left out: they move nothing. An ended job has one way on, which is a new job."""
    lifecycle = facts.lifecycle
    if job.is_ended:
        return [Way("rerun", ["a new job"], ["client", "operator"])]
    declared = [row for row in rows(lifecycle) if row["from"] == job.state and _leads_on(row, job)]
    verbs = dict.fromkeys(row["verb"] for row in declared)
    ways = [_way(job, lifecycle, verb, [row for row in declared if row["verb"] == verb]) for verb in verbs]
    return [_held_back(way, job, facts, reasons) if way.verb == "claim" else way for way in ways]


def _held_back(way: Way, job: Job, facts: Facts, reasons: list[Reason]) -> Way:
    """A job that is due may have to wait all the same: for a clock, or for what somebody does."""
    found = {reason.code: reason for reason in reasons}
    if "rate_reached" in found:
        way = replace(way, at=found["rate_reached"].until)
    awaited = []
    if "queue_paused" in found:
        awaited.append(f"queue '{job.queue}' is resumed")
    if "limit_reached" in found and facts.limit_key is not None:
        awaited.append(f"{room_maker(job, facts.limit_key)} ends")
    if not awaited:
        return way
    is_later = way.at is not None and way.at > facts.now
    return replace(way, at=way.at if is_later else None, when=f"when {' and '.join(awaited)}")


def _leads_on(row: dict[str, object], job: Job) -> bool:
    if row["verb"] == "claim":
        return job.claim_at is not None
    if row["to"] != job.state:
        return True
    return row["verb"] == "approve" and job.verdict == "hold"  # it stays where it is, and can be claimed then


def _way(job: Job, lifecycle: Lifecycle, verb: str, declared: list[dict[str, list[str]]]) -> Way:
    targets = list(dict.fromkeys([*_instead(job, lifecycle, verb), *(str(row["to"]) for row in declared)]))
    roles = list(dict.fromkeys(role for row in declared for role in row["by"]))
    return Way(verb, targets, roles, _asked_at(job, lifecycle, verb))


def _instead(job: Job, lifecycle: Lifecycle, verb: str) -> list[str]:
    """Where a failure leads while the budget lasts, and when it is used up: the system's answer to it, not the end."""
    if verb != "fail" or "retry" not in lifecycle.table.routes[job.state]:
        return []
    verbs = ("retry", "fail", *(("dead_letter",) if job.policy.retry.used_up == "dead_letter" else ()))
    declared = [row for row in rows(lifecycle) if row["from"] == job.state]
    return [str(row["to"]) for each in verbs for row in declared if row["verb"] == each]


def _asked_at(job: Job, lifecycle: Lifecycle, verb: str) -> datetime | None:
    """When the clock makes a verb possible, or has the reconciler ask for it."""
    if verb == "claim":
        return job.claim_at
    if verb == "requeue":
        return job.due_at
    if verb == "cancel":
        return job.cancel_by
    moments = [
        job.heartbeat_by if verb == lifecycle.on_expiry else None,
        job.deadline_at if verb == lifecycle.on_timeout else None,
    ]
    return min((moment for moment in moments if moment is not None), default=None)
