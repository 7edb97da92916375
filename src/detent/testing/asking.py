"""Which of the things on a `Shelf` are meant: by a listing, a claim, the reconciler, retention."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from detent.kernel import Event, Job
from detent.kernel.clock import micros
from detent.store import ClaimRequest, EventQuery, JobQuery, Retention
from detent.store.judging import unjudged_states
from detent.store.query import LOOK_BACK_MAX
from detent.store.request import Key
from detent.testing.shelf import Shelf


def is_job_meant(job: Job, query: JobQuery) -> bool:
    shown = {name: value_of(job, name) for name in query.__struct_fields__}
    return _matches(query, shown, {"created": job.created_at, "ended": job.ended_at})


def value_of(job: Job, name: str) -> Any:
    """What a job has under the name of a filter."""
    return getattr(job.spec, name, getattr(job, name, None))


def is_event_meant(shelf: Shelf, event: Event, query: EventQuery) -> bool:
    spec = shelf.jobs[event.tenant, event.job_id].spec
    shown = {name: getattr(event, name, None) for name in query.__struct_fields__}
    return _matches(query, shown | {"queue": spec.queue, "kind": spec.kind}, {"at": event.at})


def newest(shelf: Shelf, query: EventQuery, limit: int) -> tuple[list[int], int]:
    """Places of the newest events that match, in their order, and the place up to which it looked back for them."""
    is_narrow = query.job_id is not None or query.correlation_id is not None
    places = list(shelf.log)
    first = 0 if is_narrow else max(len(places) - LOOK_BACK_MAX, 0)
    asked = (at for at in reversed(places[first:]) if is_event_meant(shelf, shelf.log[at], query))
    found = list(islice(asked, limit))[::-1]
    floor = places[first - 1] if first else 0
    return found, found[0] - 1 if len(found) == limit else floor


def is_old(shelf: Shelf, key: Key, tenant: str, retention: Retention) -> bool:
    job = shelf.jobs[key]
    kept_s = retention.successes_s if job.outcome == "success" else retention.others_s
    return key[0] == tenant and job.ended_at is not None and job.ended_at < shelf.now - micros(kept_s)


def _matches(query: JobQuery | EventQuery, shown: dict[str, Any], moments: dict[str, int | None]) -> bool:
    """Whether everything that was asked for is so. A period holds both of its ends."""
    for name in query.__struct_fields__:
        asked = getattr(query, name)
        stem, _, bound = name.rpartition("_")
        if asked is None:
            continue
        if stem in moments:
            moment = moments[stem]
            if moment is None or (moment < asked if bound == "from" else moment > asked):
                return False
        elif shown[name] != asked:
            return False
    return True


def claimable(shelf: Shelf, request: ClaimRequest) -> list[Job]:
    due = [
        (job.order_at, shelf.numbers[key], job)
        for key, job in shelf.jobs.items()
        if _suits(job, request, shelf.now) and (job.spec.tenant, job.spec.queue) not in shelf.pauses
    ]
    return [job for _, _, job in sorted(due, key=lambda each: each[:2])]


def _suits(job: Job, request: ClaimRequest, now: int) -> bool:
    spec = job.spec
    is_due = job.claim_at is not None and job.claim_at <= now
    is_wanted = request.kinds is None or spec.kind in request.kinds
    is_spared = (spec.queue, spec.kind, spec.adapter_id) in request.spared
    is_any = request.adapters is None and not is_spared
    has_adapter = is_any or spec.adapter_id is None or spec.adapter_id in (request.adapters or ())
    return is_due and is_wanted and has_adapter and spec.tenant == request.tenant and spec.queue in request.queues


def waking(shelf: Shelf) -> list[Job]:
    due = [(job.wake_at, job) for job in shelf.jobs.values() if job.wake_at is not None and job.wake_at <= shelf.now]
    return [job for _, job in sorted(due, key=lambda each: each[0])]


def unjudged(shelf: Shelf, tenant: str, queues: Sequence[str], kinds: Sequence[str]) -> list[Key]:
    states = {(each.name, each.version, state) for each, state in unjudged_states(shelf.lifecycles.values())}
    return [
        key
        for key, job in shelf.jobs.items()
        if job.spec.tenant == tenant and job.spec.queue in queues and job.spec.kind in kinds and job.verdict is None
        and (job.spec.lifecycle, job.spec.lifecycle_version, job.state) in states and job.claim_at is None
    ]  # fmt: skip
