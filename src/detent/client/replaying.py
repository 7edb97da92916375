"""Folding the log to a moment: what was where then, and whether the records of today are what it adds up to."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct, field

from detent import kernel
from detent.client.verifying import PAGE, Progress, walk
from detent.kernel.fold import differences, fold
from detent.store import Store, Story

State = dict[str, Any]  # the columns of a record, by name, as the log determines them
DIFFERENCES_MAX: Final = 1_000


class Difference(Struct, frozen=True):
    """A column of a record that is not what its log adds up to."""

    job_id: str
    column: str
    folded: Any
    shown: Any


class Replay(Struct):
    """What folding gave. `before` and `after` count jobs by lifecycle and state, at the two ends of the period.

    At most 1,000 differences are kept; `differing` counts all.
    """

    jobs: int = 0
    events: int = 0
    before: Counter[tuple[str, str]] = field(default_factory=Counter)
    after: Counter[tuple[str, str]] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    differing: int = 0

    @property
    def is_same(self) -> bool:
        return not self.differing

    def differ(self, found: list[Difference]) -> None:
        self.differing += len(found)
        self.differences += found[: DIFFERENCES_MAX - len(self.differences)]


async def replay(store: Store, tenant: str, on_progress: Progress, *, since: int | None, until: int | None) -> Replay:
    replayed, seen = Replay(), 0
    async for story in walk(store, tenant):
        _add(replayed, story, since, until)
        seen += 1
        if seen % PAGE == 0:
            on_progress(seen, replayed.events)
    return replayed


def state_at(events: Iterable[kernel.Event], at: int | None) -> State | None:
    columns = fold(events, until=at)
    return columns if columns["rev"] else None


def _add(replayed: Replay, story: Story, since: int | None, until: int | None) -> None:
    lifecycle = story.job.spec.lifecycle
    earlier = state_at(story.events, since - 1) if since is not None else None
    later = state_at(story.events, until)
    if earlier is not None:
        replayed.before[lifecycle, earlier["state"]] += 1
    if later is None:
        if until is None:  # a record that no log adds up to
            replayed.differ([Difference(story.job.id, "rev", 0, story.job.rev)])
        return
    replayed.after[lifecycle, later["state"]] += 1
    replayed.jobs += 1
    replayed.events += later["rev"] - (earlier["rev"] if earlier is not None else 0)
    if until is None:
        found = differences(later, story.job).items()
        replayed.differ([Difference(story.job.id, name, *values) for name, values in found])
