"""What workers have counted, at a moment: for a status line and for metrics. Those of several can be added up."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from detent.runtime import Worker
from detent.runtime.counting import Histograms

Nested = dict[str, dict[str, int]]


class Spread(Struct):
    """How long the attempts of one kind took: what a `Histogram` holds."""

    counts: list[int]
    sum_s: float


class Counts(Struct, kw_only=True):
    """`running` and `slots` are as they are now; everything else only grows.

    What is nested is by kind; claims are by queue and, within it, by kind.
    """

    running: int = 0
    slots: int = 0
    is_draining: bool = False
    conflicts: int = 0
    renewals: int = 0
    expiries: int = 0
    stalls: int = 0
    reconciliations: int = 0
    removals: int = 0
    claims: Nested = field(default_factory=dict)
    ends: Nested = field(default_factory=dict)
    failures: Nested = field(default_factory=dict)
    dead_letters: Nested = field(default_factory=dict)
    losses: Nested = field(default_factory=dict)
    ticks: dict[str, int] = field(default_factory=dict)
    stops: dict[str, int] = field(default_factory=dict)
    refusals: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, int] = field(default_factory=dict)
    troubles: dict[str, int] = field(default_factory=dict)
    waits: dict[str, Spread] = field(default_factory=dict)
    runs: dict[str, Spread] = field(default_factory=dict)

    def ended(self, *came_to: str) -> int:
        return sum(ends.get(each, 0) for ends in self.ends.values() for each in came_to)


def counts_of(worker: Worker) -> Counts:
    """From any thread: each table is copied at once, as another thread may be adding to it."""
    tally = worker.tally
    return Counts(
        running=len(worker.live),
        slots=worker.slots,
        is_draining=worker.is_draining,
        conflicts=tally.conflicts,
        renewals=tally.renewals,
        expiries=tally.expiries,
        stalls=tally.stalls,
        reconciliations=tally.reconciliations,
        removals=tally.removals,
        claims=_nested(dict(tally.claims)),
        ends=_nested(dict(tally.ends)),
        failures=_nested(dict(tally.failures)),
        dead_letters=_nested(dict(tally.dead_letters)),
        losses=_nested(dict(tally.losses)),
        ticks=dict(tally.ticks),
        stops=dict(tally.stops),
        refusals=dict(tally.refusals),
        verdicts=dict(tally.verdicts),
        troubles=dict(tally.troubles),
        waits=_spreads(tally.waits),
        runs=_spreads(tally.runs),
    )


def over(counts: Counts) -> Counts:
    """What is left of a worker that is gone: what it had counted."""
    kept = summed([counts])
    kept.running, kept.slots, kept.is_draining = 0, 0, False
    return kept


def summed(several: Iterable[Counts]) -> Counts:
    total = Counts()
    for each in several:
        for name in Counts.__struct_fields__:
            setattr(total, name, _plus(getattr(total, name), getattr(each, name)))
    return total


def _plus(one: object, other: object) -> object:
    if isinstance(one, bool) and isinstance(other, bool):
        return one or other
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    if isinstance(one, Spread) and isinstance(other, Spread):
        return Spread([sum(pair) for pair in zip(one.counts, other.counts, strict=True)], one.sum_s + other.sum_s)
    assert isinstance(one, dict), "there are numbers, spreads and tables of these"
    assert isinstance(other, dict), "both are of one field"
    return one | {name: _plus(one[name], each) if name in one else each for name, each in other.items()}


def _spreads(histograms: Histograms) -> dict[str, Spread]:
    return {kind: Spread(list(each.counts), each.sum_s) for kind, each in dict(histograms).items()}


def _nested(flat: Mapping[tuple[str, ...], int]) -> Nested:
    nested: Nested = {}
    for (kind, what), count in flat.items():
        nested.setdefault(kind, {})[what] = count
    return nested
