"""Why a job that is due is passed over: its limit key takes no more jobs now."""

from datetime import datetime

from detent.client.moments import to_micros, to_moment
from detent.client.reasons import Facts, Reason
from detent.client.spoken import moment
from detent.client.views import Job
from detent.store.limits import KeyReport, free_at, has_place, strictest_of


def limited(job: Job, due: datetime, facts: Facts) -> list[Reason]:
    """By what is leased, then by the rate. Where both hold it back, both are said."""
    report = facts.limit_key
    if report is None:
        return []
    limit, use = job.policy.limit, report.use
    reasons = []
    if not has_place(limit, use):
        most = strictest_of(limit, use)
        text = f"limit key '{job.limit_key}' is used up: {_count(use.leased)} leased, and at most {most} may be; "
        reasons.append(Reason("limit_reached", text + _held(report), due))
    free = to_moment(free_at(limit, use.rate, to_micros("now", facts.now)))
    if free > facts.now:
        rate = (
            "as many as may be" if limit is None or limit.rate_max is None else f"{limit.rate_max} in {limit.per_s:g} s"
        )
        text = (
            f"limit key '{job.limit_key}' has reached its rate, {rate}; the next is taken at {moment(free, facts.now)}"
        )
        reasons.append(Reason("rate_reached", text, due, free))
    return reasons


def room_maker(job: Job, report: KeyReport) -> str:
    """Whose end makes room: `job 42`, or one of several."""
    if report.use.leased == 1 and report.holders:
        return f"job {report.holders[0][0]}"
    return f"one of {report.use.leased:,} jobs of limit key '{job.limit_key}'"


def _count(leased: int) -> str:
    return "1 of its jobs is" if leased == 1 else f"{leased:,} of its jobs are"


def _held(report: KeyReport) -> str:
    """`held by 42 ('w1') and 43 ('w2')`; of many, those that have held it longest."""
    named = [f"{job_id} ('{owner}')" for job_id, owner in report.holders]
    more = report.use.leased - len(named)
    if more > 0:
        named.append(f"{more:,} more")
    listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    return f"held by {listed}"
