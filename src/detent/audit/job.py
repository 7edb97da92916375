"""Checking one job: its log event by event, then its record and its notes."""

from collections.abc import Iterable
from typing import Final

from detent.audit.dwell import Dwell
from detent.audit.events import check_event
from detent.audit.invariants import Violation
from detent.audit.requests import DAY_US, Doubled, Requests
from detent.audit.row import check_row
from detent.kernel.event import Event, Note
from detent.kernel.fold import fold, fold_one
from detent.kernel.job import Job
from detent.lifecycle import Lifecycle

# With a hole in it, or going on after its end, a log adds up to nothing: what follows is not judged.
_BREAKING: Final = frozenset({"I1", "I4"})


def check_job(
    lifecycle: Lifecycle,
    job: Job,
    events: Iterable[Event],
    notes: Iterable[Note] = (),
    *,
    slack_us: int | None = None,
    now: int | None = None,
    requests_kept_us: int = DAY_US,
) -> list[Violation]:
    """Everything one job's record, log and notes show. Lateness (I17) is judged only if `slack_us` is given."""
    check = JobCheck(lifecycle, job, slack_us=slack_us, requests_kept_us=requests_kept_us)
    found = [violation for event in events for violation in check.event(event)]
    found += check.finish(notes, now=now)
    return found + [Violation("I12", job.id, doubled.rev, str(doubled)) for doubled in check.doubled]


class JobCheck:
    """One job's log, fed event by event in its own order; `finish` compares what it added up to with the record."""

    def __init__(
        self, lifecycle: Lifecycle, job: Job, *, slack_us: int | None = None, requests_kept_us: int = DAY_US
    ) -> None:
        self.columns = fold(())
        self.events = 0
        self.doubled: list[Doubled] = []
        self._lifecycle = lifecycle
        self._job = job
        self._requests = Requests(requests_kept_us)
        self._dwell = None if slack_us is None else Dwell(lifecycle, job.spec.policy, slack_us)
        self._is_broken = False

    def event(self, event: Event) -> list[Violation]:
        self.events += 1
        spec = self._job.spec
        if (event.tenant, event.job_id) != (spec.tenant, spec.id):
            return [Violation("I3", event.job_id, event.rev, f"an event in the log of job {spec.id} of {spec.tenant}")]
        if self._is_broken:
            return []
        found = check_event(self._lifecycle, self.columns, event, spec.policy, run_at=spec.run_at)
        self._is_broken = any(violation.invariant in _BREAKING for violation in found)
        fold_one(self.columns, event)
        self._look_back(event, found)
        return found

    def finish(self, notes: Iterable[Note] = (), *, now: int | None = None) -> list[Violation]:
        """Hold what the log added up to against the record, if it adds up to anything."""
        job, found = self._job, self._misplaced(notes)
        if self._dwell is not None and now is not None:
            found += self._dwell.overdue(now)
        if self._is_broken:
            return found
        if not self.events:
            return [*found, Violation("I3", job.id, job.rev, f"a record at revision {job.rev} without any event")]
        return found + check_row(self._lifecycle, self.columns, job)

    def _look_back(self, event: Event, found: list[Violation]) -> None:
        doubled = self._requests.event(event)
        if doubled is not None:
            self.doubled.append(doubled)
        if self._dwell is not None:
            found += self._dwell.overdue(event.at)
            self._dwell.enter(event)

    def _misplaced(self, notes: Iterable[Note]) -> list[Violation]:
        """A note hangs on a revision of its own job that exists."""
        job = self._job
        return [
            Violation("I3", note.job_id, note.rev, f"a note '{note.kind}' on job {job.id}, which is at {job.rev}")
            for note in notes
            if (note.tenant, note.job_id) != (job.spec.tenant, job.id) or not 1 <= note.rev <= job.rev
        ]
