"""What counts are kept in: tables by label and histograms of durations. Neither grows without end, whatever comes."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from detent.kernel import Job

LABELS_MAX: Final = 200  # values of one label in one table; whatever comes after them is `OTHER`
SERIES_MAX: Final = 2_000  # combinations in one table, but for those of `OTHER`
OTHER: Final = "other"
# Labels whose values somebody else makes up. Those of all others are ours, and few.
OPEN: Final = frozenset({"kind", "queue", "error", "state", "schedule"})
# Upper ends of the classes that durations are counted in, in seconds: 5 ms to an hour.
BOUNDS_S: Final[tuple[float, ...]] = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0,
)  # fmt: skip


class Table(dict[tuple[str, ...], int]):
    """Counts that only grow, by the values of these labels. What has not been counted yet is 0."""

    def __init__(self, *labels: str) -> None:
        self._is_open = [label in OPEN for label in labels]
        self._seen: list[set[str]] = [set() for _ in labels]

    def __missing__(self, key: tuple[str, ...]) -> int:
        return 0

    def add(self, *values: str, count: int = 1) -> tuple[str, ...]:
        """What it was counted under."""
        key = values if values in self else self._bounded(values)
        self[key] += count
        return key

    def _bounded(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """What a combination that is new is counted under. One that is full up stays as open as it is."""
        is_full = len(self) >= SERIES_MAX
        kept = [
            OTHER if is_open and (is_full or not _has_room(seen, value)) else value
            for value, is_open, seen in zip(values, self._is_open, self._seen, strict=True)
        ]
        for value, seen in zip(kept, self._seen, strict=True):
            seen.add(value)
        return tuple(kept)


class Histogram:
    """How long something took, each time."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_S) + 1)  # by class, the last for whatever is beyond all bounds
        self.sum_s = 0.0

    def took(self, seconds: float) -> None:
        seconds = max(seconds, 0.0)  # a clock may have been set back
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.sum_s += seconds

    def quantile_s(self, share: float) -> float | None:
        return quantile_s(self.counts, share)


class Histograms(dict[str, Histogram]):
    """One for each kind, as long as there are not too many."""

    def took(self, kind: str, seconds: float) -> None:
        histogram = self.get(kind)
        if histogram is None:
            histogram = self.setdefault(kind if len(self) < LABELS_MAX else OTHER, Histogram())
        histogram.took(seconds)


def quantile_s(counts: Sequence[int], share: float) -> float | None:
    """Below what so large a share of the durations was, as Prometheus reckons it; None if there were none.

    Within a class they are taken to lie evenly, and those beyond all bounds to lie at the last one.
    """
    rank, below = share * sum(counts), 0
    if not any(counts):
        return None
    lower_s = 0.0
    for upper_s, count in zip(BOUNDS_S, counts, strict=False):
        if count and below + count >= rank:
            return lower_s + (upper_s - lower_s) * max(rank - below, 0.0) / count
        below, lower_s = below + count, upper_s
    return BOUNDS_S[-1]


def waited_s(job: Job) -> float | None:
    """From when a job that was just claimed was to run to this claim. None for any claim but its first.

    What a later attempt has waited is not on the record any more: its claim has cleared it.
    """
    if job.attempt != 1 or job.claimed_at is None:
        return None
    return (job.claimed_at - max(job.created_at, job.spec.run_at or 0)) / 1e6


def ran_s(job: Job) -> float | None:
    """From the start of the attempt that has just ended to its end. None, if it was claimed and never started."""
    if job.started_at is None or job.claimed_at is None or job.started_at < job.claimed_at:
        return None
    return (job.updated_at - job.started_at) / 1e6


def _has_room(seen: set[str], value: str) -> bool:
    return value in seen or len(seen) < LABELS_MAX
