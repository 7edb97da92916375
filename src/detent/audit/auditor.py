"""Checking a whole store: one job at a time, in bounded memory; and, if calls were recorded, those too."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from detent.audit import creations, ordering, repeats
from detent.audit.calls import Call, Key, Ledger
from detent.audit.invariants import Violation
from detent.audit.job import JobCheck
from detent.audit.limits import Leases
from detent.audit.requests import DAY_US
from detent.errors import InvalidArgument, NotFound
from detent.kernel.event import Event, Note
from detent.kernel.job import Job
from detent.lifecycle import Lifecycle
from detent.lifecycle.registry import Registry

Lifecycles = Registry | Mapping[tuple[str, int], Lifecycle]
VIOLATIONS_MAX: Final = 1_000

# Which function holds the recorded calls against which invariants.
CALL_CHECKS: Final[dict[str, Callable[[Ledger], Iterator[Violation]]]] = {
    "I10": creations.acknowledged,
    "I11, I13": creations.phantoms,
    "I12": repeats.one_answer,
    "I12, I13": repeats.one_effect,
    "I14": ordering.one_success,
    "I15": ordering.no_step_back,
    "I16": ordering.cancelled,
}


class Report(Struct, frozen=True):
    """What was looked at and what was found. At most a bounded number of violations is kept; all are counted."""

    jobs: int
    events: int
    violations: tuple[Violation, ...]
    counts: dict[str, int]  # invariant → how often

    @property
    def is_clean(self) -> bool:
        return not self.counts


class Auditor:
    """Fed one job after the other, and calls in any order between.

    `slack_us` and `now` turn on the checks of lateness. `traced` keeps what the calls are held against, a record per
    job; without it memory is bounded whatever the store's size, and `call` is refused. Of jobs with a limit key some
    numbers are kept for each attempt.
    """

    def __init__(
        self,
        lifecycles: Lifecycles,
        *,
        slack_us: int | None = None,
        now: int | None = None,
        requests_kept_us: int = DAY_US,
        violations_max: int = VIOLATIONS_MAX,
        traced: bool = False,
    ) -> None:
        self._lifecycles = lifecycles
        self._slack_us = slack_us
        self._now = now
        self._requests_kept_us = requests_kept_us
        self._violations_max = violations_max
        self._ledger = Ledger() if traced else None
        self._leases = Leases()
        self._known: dict[tuple[str, int], Lifecycle | None] = {}
        self._kept: list[Violation] = []
        self._counts: Counter[str] = Counter()
        self._jobs = self._events = 0

    def job(self, job: Job | None, events: Iterable[Event], notes: Iterable[Note] = ()) -> None:
        """A job with its log, in the log's order. None: the log, or the notes, of a job that has no record."""
        if job is None:
            self._orphans(events, notes)
            return
        self._jobs += 1
        lifecycle = self._lifecycle(job.spec.lifecycle, job.spec.lifecycle_version)
        if lifecycle is None:
            self._events += sum(1 for _ in events)
            name = f"{job.spec.lifecycle} v{job.spec.lifecycle_version}"
            self.found([Violation("I2", job.id, None, f"it follows {name}, which is not known here")], job.spec.tenant)
            return
        self._check(lifecycle, job, events, notes)

    def unfinished(self) -> list[Key]:
        """Jobs with a limit key that were leased when they were looked at. While others go on writing, each is to be
        looked at `again` before the end: it may have let go before another was claimed.
        """
        return self._leases.unfinished()

    def again(self, job: Job, events: Iterable[Event]) -> None:
        self._leases.again(job, events)

    def gone(self, key: Key) -> None:
        """One of those was removed meanwhile."""
        self._leases.gone(key)

    def call(self, call: Call) -> None:
        if self._ledger is None:
            raise InvalidArgument("this auditor keeps nothing to hold calls against; make it with traced=True")
        self._ledger.calls.append(call)

    def finish(self, *, drained_at: int | None = None, jobs: int | None = None, events: int | None = None) -> Report:
        """`drained_at`: when all work was given time to end. `jobs`, `events`: the store's own counts, to compare."""
        if self._ledger is not None:
            self._ledger.drained_at = drained_at
            for check in CALL_CHECKS.values():
                self.found(check(self._ledger))
        for tenant, violation in self._leases.finish():
            self.found([violation], tenant)
        for what, counted, seen in (("jobs", jobs, self._jobs), ("events", events, self._events)):
            if counted not in (None, seen):
                self.found([Violation("I3", "", None, f"the store counts {counted} {what}; {seen} were there")])
        return Report(self._jobs, self._events, tuple(self._kept), dict(self._counts))

    def _check(self, lifecycle: Lifecycle, job: Job, events: Iterable[Event], notes: Iterable[Note]) -> None:
        check = JobCheck(lifecycle, job, slack_us=self._slack_us, requests_kept_us=self._requests_kept_us)
        fact = None if self._ledger is None else self._ledger.open(job)
        for event in events:
            self.found(check.event(event), job.spec.tenant)
            if job.spec.limit_key is not None:
                self._leases.event(job, event)
            if fact is not None:
                fact.event(event)
        self._events += check.events
        self.found(check.finish(notes, now=self._now), job.spec.tenant)
        if self._ledger is None:
            doubled = (Violation("I12", job.id, each.rev, str(each)) for each in check.doubled)
            self.found(doubled, job.spec.tenant)
        else:
            self._ledger.doubled += check.doubled

    def _orphans(self, events: Iterable[Event], notes: Iterable[Note]) -> None:
        for event in events:
            self._events += 1
            lost = Violation("I3", event.job_id, event.rev, f"an event '{event.verb}' without a record")
            self.found([lost], event.tenant)
        self.found(Violation("I3", note.job_id, note.rev, f"a note '{note.kind}' without a record") for note in notes)

    def found(self, violations: Iterable[Violation], tenant: str | None = None) -> None:
        for violation in violations:
            self._counts[violation.invariant] += 1
            if len(self._kept) < self._violations_max:
                self._kept.append(violation if tenant is None else replace(violation, tenant=tenant))

    def _lifecycle(self, name: str, version: int) -> Lifecycle | None:
        key = name, version
        if key not in self._known:
            self._known[key] = _look_up(self._lifecycles, name, version)
        return self._known[key]


def _look_up(lifecycles: Lifecycles, name: str, version: int) -> Lifecycle | None:
    if isinstance(lifecycles, Mapping):
        return lifecycles.get((name, version))
    try:
        return lifecycles.get(name, version)
    except NotFound:
        return None
