"""Counting what a worker does: claims, renewals, ends by kind, and how long handlers took. Bounded, whatever comes."""

from collections import Counter
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING

from detent.kernel.dead_letter import reason_code_of
from detent.runtime.counting import Histograms, Table, waited_s
from detent.runtime.observing import Observer

if TYPE_CHECKING:
    from detent.kernel import Job
    from detent.runtime.faults import Fault
    from detent.runtime.run import Run
    from detent.runtime.worker import Worker


class Tally(Observer):
    """Counters that only grow. `ends` are by kind and by what the attempt came to; `refusals` by their code."""

    def __init__(self) -> None:
        self.conflicts = self.renewals = self.stalls = 0
        self.reconciliations = self.expiries = self.removals = 0
        self.claims = Table("queue", "kind")
        self.ends = Table("kind", "outcome")
        self.failures = Table("kind", "error")
        self.dead_letters = Table("kind", "reason")
        self.losses = Table("kind", "state")  # what time gave up
        self.ticks: Counter[str] = Counter()
        self.stops: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        self.troubles: Counter[str] = Counter()
        self.waits = Histograms()  # from due to claimed, by kind
        self.runs = Histograms()  # from claimed to settled, by kind

    def claimed(self, jobs: "Sequence[Job]") -> None:
        for job in jobs:
            spec = job.spec
            self.claims.add(spec.queue, spec.kind)
            waited = waited_s(job)
            if waited is not None:
                self.waits.took(spec.kind, waited)

    def conflicted(self, count: int) -> None:
        self.conflicts += count

    def ended(self, run: "Run", came_to: str) -> None:
        kind = run.handler.kind
        self.ends.add(kind, came_to)
        self.runs.took(kind, monotonic() - run.began_s)

    def failed(self, run: "Run", fault: "Fault") -> None:
        self.failures.add(run.handler.kind, fault.names[0])

    def renewed(self, count: int) -> None:
        self.renewals += count

    def stopping(self, run: "Run", reason: str) -> None:
        self.stops[reason] += 1

    def late(self, run: "Run", code: str) -> None:
        self.refusals[code] += 1

    def stalled(self, handlers: str, for_s: float, stack: str) -> None:
        self.stalls += 1

    def judged(self, verdict: str, count: int) -> None:
        self.verdicts[verdict] += count

    def reconciled(self, count: int) -> None:
        self.reconciliations += count

    def expired(self, count: int) -> None:
        self.expiries += count

    def buried(self, job: "Job") -> None:
        self.dead_letters.add(job.spec.kind, reason_code_of(job) or "none")

    def given_up(self, job: "Job") -> None:
        self.losses.add(job.spec.kind, job.state)

    def ticked(self, schedule: str) -> None:
        self.ticks[schedule] += 1

    def pruned(self, count: int) -> None:
        self.removals += count

    def troubled(self, duty: str, error: BaseException) -> None:
        self.troubles[duty] += 1


class Several(Observer):
    """Tells each of these in turn."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def opened(self, worker: "Worker") -> None:
        for each in self._observers:
            each.opened(worker)

    def draining(self, running: int, grace_s: float) -> None:
        for each in self._observers:
            each.draining(running, grace_s)

    def claimed(self, jobs: "Sequence[Job]") -> None:
        for each in self._observers:
            each.claimed(jobs)

    def conflicted(self, count: int) -> None:
        for each in self._observers:
            each.conflicted(count)

    def ended(self, run: "Run", came_to: str) -> None:
        for each in self._observers:
            each.ended(run, came_to)

    def failed(self, run: "Run", fault: "Fault") -> None:
        for each in self._observers:
            each.failed(run, fault)

    def renewed(self, count: int) -> None:
        for each in self._observers:
            each.renewed(count)

    def stopping(self, run: "Run", reason: str) -> None:
        for each in self._observers:
            each.stopping(run, reason)

    def late(self, run: "Run", code: str) -> None:
        for each in self._observers:
            each.late(run, code)

    def stalled(self, handlers: str, for_s: float, stack: str) -> None:
        for each in self._observers:
            each.stalled(handlers, for_s, stack)

    def judged(self, verdict: str, count: int) -> None:
        for each in self._observers:
            each.judged(verdict, count)

    def reconciled(self, count: int) -> None:
        for each in self._observers:
            each.reconciled(count)

    def expired(self, count: int) -> None:
        for each in self._observers:
            each.expired(count)

    def buried(self, job: "Job") -> None:
        for each in self._observers:
            each.buried(job)

    def given_up(self, job: "Job") -> None:
        for each in self._observers:
            each.given_up(job)

    def ticked(self, schedule: str) -> None:
        for each in self._observers:
            each.ticked(schedule)

    def pruned(self, count: int) -> None:
        for each in self._observers:
            each.pruned(count)

    def troubled(self, duty: str, error: BaseException) -> None:
        for each in self._observers:
            each.troubled(duty, error)
