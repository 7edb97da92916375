"""Limits per key (I19): of the jobs of a key no more are leased at once, or claimed in a while, than they allow.

It is the one question that no job can answer alone. So a few numbers are kept of every lease of a job that has a key,
and held against one another in the end. Time goes by the moments of the events: a lease lasts from its claim up to, and
not including, the move that ends it.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from detent.audit.calls import Key
from detent.audit.invariants import Violation
from detent.kernel.event import Event
from detent.kernel.job import Job

OPEN: Final = 2**63 - 1  # the end of a lease that has none yet
_END: Final = 1  # after its claim; then the revision of that, and how many may be leased at once (0: any number)
Limited = tuple[str, str]  # tenant and limit key
Rated = tuple[str, str, int, int]  # also the rate
Lease = tuple[int, int, int, int, str]  # as kept, and the job


class Held:
    """The leases of one key: numbers, side by side, and the job of each."""

    def __init__(self) -> None:
        self.numbers: array[int] = array("q")
        self.job_ids: list[str] = []


class Leases:
    def __init__(self) -> None:
        self._held: dict[Limited, Held] = defaultdict(Held)
        self._claims: dict[Rated, list[tuple[int, str, int]]] = defaultdict(list)
        self._open: dict[Key, tuple[Held, int]] = {}  # by job: where the number stands that is its end

    def event(self, job: Job, event: Event) -> None:
        """Of a job that has a limit key, in the order of its log."""
        if "owner" not in event.changes:
            return
        key = job.spec.tenant, job.id
        opened = self._open.pop(key, None)
        if opened is not None:
            held, place = opened
            held.numbers[place] = event.at
        if event.changes["owner"] is not None:
            self._begin(job, event)

    def unfinished(self) -> list[Key]:
        """Jobs whose last lease had not ended when they were looked at."""
        return list(self._open)

    def again(self, job: Job, events: Iterable[Event]) -> None:
        """A job that was looked at before, later: how its lease ended, if it has. What came after that is left out, so
        that jobs which were not looked at again are held against nothing newer than themselves.
        """
        held, place = self._open[job.spec.tenant, job.id]
        begun = held.numbers[place + 1]
        after = (event for event in events if event.rev > begun and "owner" in event.changes)
        ended = next(after, None)
        held.numbers[place] = OPEN if ended is None else ended.at

    def gone(self, key: Key) -> None:
        """A job that was removed meanwhile: nobody can say any more how long it was held."""
        held, place = self._open[key]
        held.numbers[place] = held.numbers[place - 1]

    def finish(self) -> Iterator[tuple[str, Violation]]:
        """What is wrong, and whose it is."""
        for (tenant, key), held in self._held.items():
            for found in _crowded(key, held):
                yield tenant, found
        for (tenant, key, rate_max, per_us), claims in self._claims.items():
            for found in _hurried(key, rate_max, per_us, sorted(claims)):
                yield tenant, found

    def _begin(self, job: Job, event: Event) -> None:
        spec = job.spec
        tenant, key, limit = spec.tenant, spec.limit_key or "", spec.policy.limit
        held = self._held[tenant, key]
        self._open[tenant, job.id] = held, len(held.numbers) + _END
        held.numbers.extend((event.at, OPEN, event.rev, 0 if limit is None else limit.concurrency_max or 0))
        held.job_ids.append(job.id)
        if limit is not None and limit.rate_max is not None:
            self._claims[tenant, key, limit.rate_max, limit.per_us].append((event.at, job.id, event.rev))


def _crowded(key: str, held: Held) -> Iterator[Violation]:
    """Claims beside more leases than one of them allows. An end goes before a claim of the same moment."""
    leases = [lease for lease in _leases(held) if lease[0] < lease[_END]]
    ends = sorted(leases, key=lambda lease: lease[_END])
    gone, count, allowed = 0, 0, Counter[int]()
    for claimed_at, _, rev, most, job_id in sorted(leases):
        while ends[gone][_END] <= claimed_at:
            count -= 1
            allowed[ends[gone][3]] -= 1
            gone += 1
        count += 1
        allowed[most] += 1
        strictest = min((each for each, jobs in allowed.items() if each and jobs), default=count)
        if count > strictest:
            what = f"claimed as number {count} of those leased with limit key {key!r}; at most {strictest} may be"
            yield Violation("I19", job_id, rev, what)


def _hurried(key: str, rate_max: int, per_us: int, claims: list[tuple[int, str, int]]) -> Iterator[Violation]:
    for earlier, (at, job_id, rev) in zip(claims, claims[rate_max:], strict=False):
        if at - earlier[0] < per_us:
            what = f"claimed {at - earlier[0]} µs after the {rate_max}th claim before it with limit key {key!r}"
            yield Violation("I19", job_id, rev, f"{what}; so many take at least {per_us} µs")


def _leases(held: Held) -> Iterator[Lease]:
    numbers = iter(held.numbers)
    yield from zip(numbers, numbers, numbers, numbers, held.job_ids, strict=True)
