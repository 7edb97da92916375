"""Counting what a worker does: claims, renewals, ends by kind, and how long handlers took. Bounded, whatever comes."""

from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from time import monotonic
from typing import TYPE_CHECKING, Final

from detent.runtime.observing import Observer

if TYPE_CHECKING:
    from detent.kernel import Job
    from detent.runtime.faults import Fault
    from detent.runtime.run import Run
    from detent.runtime.worker import Worker

# Upper ends of the classes that durations are counted in, in seconds: four to each doubling, from 0.1 ms to a day.
BOUNDS_S: Final[tuple[float, ...]] = tuple(0.0001 * 2 ** (step / 4) for step in range(120))


class Durations:
    """How long the handlers of one kind took. A quantile is right to within a fifth."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_S) + 1)
        self.sum_s = 0.0

    def took(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.sum_s += seconds

    def quantile_s(self, share: float) -> float | None:
        """None: nothing has ended yet."""
        sums = list(accumulate(self.counts))
        if not sums[-1]:
            return None
        place = bisect_left(sums, max(share * sums[-1], 1))
        return BOUNDS_S[min(place, len(BOUNDS_S) - 1)]


class Tally(Observer):
    """Counters that only grow. `ends` are by kind and by what the attempt came to; `refusals` by their code."""

    def __init__(self) -> None:
        self.claims = self.conflicts = self.renewals = self.stalls = 0
        self.reconciliations = self.expiries = self.removals = 0
        self.ends: Counter[tuple[str, str]] = Counter()
        self.failures: Counter[tuple[str, str]] = Counter()  # by kind and error class
        self.dead_letters: Counter[str] = Counter()  # by kind
        self.losses: Counter[tuple[str, str]] = Counter()  # what time gave up, by kind and state
        self.ticks: Counter[str] = Counter()
        self.stops: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        self.troubles: Counter[str] = Counter()
        self.durations: dict[str, Durations] = {}

    def claimed(self, count: int) -> None:
        self.claims += count

    def conflicted(self, count: int) -> None:
        self.conflicts += count

    def ended(self, run: "Run", came_to: str) -> None:
        kind = run.handler.kind
        self.ends[kind, came_to] += 1
        durations = self.durations.get(kind)
        if durations is None:
            durations = self.durations[kind] = Durations()
        durations.took(monotonic() - run.began_s)

    def failed(self, run: "Run", fault: "Fault") -> None:
        self.failures[run.handler.kind, fault.names[0]] += 1

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
        self.dead_letters[job.spec.kind] += 1

    def given_up(self, job: "Job") -> None:
        self.losses[job.spec.kind, job.state] += 1

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

    def claimed(self, count: int) -> None:
        for each in self._observers:
            each.claimed(count)

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
