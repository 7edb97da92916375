"""Bringing records and logs together: in memory for a test run, or side by side as a store reads them out."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TypeVar

from detent.audit.auditor import Auditor, Lifecycles, Report
from detent.audit.calls import Call, Key
from detent.kernel.event import Event, Note
from detent.kernel.job import Job

Said = TypeVar("Said", Event, Note)


def check_history(
    lifecycles: Lifecycles,
    jobs: Iterable[Job],
    events: Iterable[Event],
    calls: Iterable[Call] | None = None,
    notes: Iterable[Note] = (),
    *,
    drained_at: int | None = None,
    slack_us: int | None = None,
    now: int | None = None,
) -> Report:
    """A whole history that fits into memory. With `calls`, even none, every job must have been asked for."""
    logs, said = _by_job(events), _by_job(notes)
    auditor = Auditor(lifecycles, slack_us=slack_us, now=now, traced=calls is not None)
    for job in jobs:
        auditor.job(job, logs.pop(_key(job), ()), said.pop(_key(job), ()))
    for key in dict.fromkeys([*logs, *said]):
        auditor.job(None, logs.get(key, ()), said.get(key, ()))
    for call in calls or ():
        auditor.call(call)
    return auditor.finish(drained_at=drained_at)


def paired(jobs: Iterable[Job], events: Iterable[Event]) -> Iterator[tuple[Job | None, Iterable[Event]]]:
    """Each job with its log, for `Auditor.job`. Both come in the order of tenant, job id and, for events, revision.

    A log without a record comes with None, a record without a log with nothing. One log at a time is in memory.
    """
    logs = groupby(events, key=lambda event: (event.tenant, event.job_id))
    log = next(logs, None)
    for job in jobs:
        while log is not None and log[0] < _key(job):
            yield None, log[1]
            log = next(logs, None)
        if log is None or log[0] != _key(job):
            yield job, ()
            continue
        yield job, log[1]
        log = next(logs, None)
    while log is not None:
        yield None, log[1]
        log = next(logs, None)


def _key(job: Job) -> Key:
    return job.spec.tenant, job.spec.id


def _by_job(items: Iterable[Said]) -> dict[Key, list[Said]]:
    grouped: dict[Key, list[Said]] = defaultdict(list)
    for item in items:
        grouped[item.tenant, item.job_id].append(item)
    return grouped
