"""Recorded calls that make jobs: none acknowledged is lost (I10), and none is there that nobody asked for (I11)."""

from collections import Counter
from collections.abc import Iterator

from detent.audit.calls import Call, Fact, Key, Ledger
from detent.audit.invariants import Violation
from detent.kernel.digest import derived_id
from detent.kernel.job import Job

# What a job without a name can be known by: its tenant, the job it is a rerun of, its payload. A rerun may keep the
# payload of the job it comes from, and then says nothing of it.
Look = tuple[str, str | None, str | None]


def acknowledged(ledger: Ledger) -> Iterator[Violation]:
    """I10."""
    for call in ledger.calls:
        if not call.creates or not call.is_ok:
            continue
        for answer in call.answers:
            message = _lost(call, ledger.fact(call, answer.job_id), ledger.drained_at)
            if message is not None:
                yield Violation("I10", answer.job_id, None, message)


def phantoms(ledger: Ledger) -> Iterator[Violation]:
    """I11. A call without an answer and without an id may have made one job; two that look like its are I13."""
    named, requests, nameless = _asked_for(ledger)
    unclaimed: Counter[Look] = Counter()
    for (tenant, job_id), fact in ledger.facts.items():
        if (tenant, job_id) in named or (tenant, fact.born_of) in requests or _is_spawned(ledger, tenant, fact.job):
            continue
        parent_id = fact.job.spec.parent_job_id if fact.is_rerun else None
        look: Look = (tenant, parent_id, fact.job.payload_digest)
        if look not in nameless:
            look = (tenant, parent_id, None)
        unclaimed[look] += 1
        calls, jobs = nameless[look], unclaimed[look]
        if not calls:
            yield Violation("I11", job_id, 1, f"it is there, in '{fact.job.state}', but nobody enqueued it")
        elif jobs > calls:
            yield Violation("I13", job_id, 1, f"{calls} calls without an answer made {jobs} jobs")


def _lost(call: Call, fact: Fact | None, drained_at: int | None) -> str | None:
    if fact is None:
        return f"'{call.verb}' was acknowledged, but there is no such job"
    job = fact.job
    if call.payload_digest not in (None, job.payload_digest) and not call.is_duplicate:
        return f"enqueued with payload {call.payload_digest}; it has {job.payload_digest}"
    if drained_at is not None and not _is_settled(job, drained_at):
        return f"still in '{job.state}' after everything was given time to end"
    return None


def _is_settled(job: Job, now: int) -> bool:
    """Ended, or waiting for a signal or for a time that has not come."""
    if job.phase == "ended":
        return True
    if _past(job.claim_at, now) or _past(job.wake_at, now):
        return False
    return job.phase == "parked" or job.claim_at is not None or job.verdict == "hold"


def _past(moment: int | None, now: int) -> bool:
    return moment is not None and moment <= now


def _asked_for(ledger: Ledger) -> tuple[set[Key], set[tuple[str, str | None]], Counter[Look]]:
    """By name, by request id, and, where a call without an answer has neither, how many of a look."""
    named: set[Key] = set()
    requests: set[tuple[str, str | None]] = set()
    nameless: Counter[Look] = Counter()
    for call in ledger.calls:
        if not call.creates or call.outcome == "refused":
            continue
        named.update((call.tenant, answer.job_id) for answer in call.answers)
        if call.outcome == "ok":
            continue
        if call.request_id is not None:
            requests.add((call.tenant, call.request_id))
        elif call.verb == "rerun":
            nameless[call.tenant, call.job_id, call.payload_digest] += 1
        elif call.job_id is not None:
            named.add((call.tenant, call.job_id))
        else:
            nameless[call.tenant, None, call.payload_digest] += 1
    return named, requests, nameless


def _is_spawned(ledger: Ledger, tenant: str, job: Job) -> bool:
    """The system's own rerun of a failed job, or what undoes it: its id follows from the job it comes from."""
    parent_id = job.spec.parent_job_id
    parent = ledger.facts.get((tenant, parent_id)) if parent_id is not None else None
    if parent is None:
        return False
    cause = tenant, parent_id, parent.job.rev
    return job.id in (derived_id(*cause), derived_id(*cause, "compensation"))
