"""What can be asked about jobs and events, and the pages they are answered in."""

from collections.abc import Iterator
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct

from detent.errors import InvalidArgument, shown
from detent.kernel import Event, Job, Note

PAGE_MAX: Final = 1_000
NUMBER_MAX: Final = 2**63 - 1
DAY_S: Final = 86_400
LOOK_BACK_MAX: Final = 100_000  # events that are gone through, from the newest back, for those that match
# What jobs can be counted by.
COUNTED_BY: Final = ("lifecycle", "state", "phase", "outcome", "queue", "kind")
Item = TypeVar("Item")
# How many jobs, by the values of what they were counted by, in that order. The outcome of a job not ended is None.
Counts = dict[tuple[str | None, ...], int]


class JobQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs of a tenant; what is not given does not matter. Newest first."""

    tenant: str = "default"
    state: str | None = None
    phase: str | None = None
    outcome: str | None = None
    queue: str | None = None
    kind: str | None = None
    lifecycle: str | None = None
    owner: str | None = None
    correlation_id: str | None = None
    parent_job_id: str | None = None
    workflow_id: str | None = None
    dedupe_key: str | None = None
    limit_key: str | None = None
    topic: str | None = None
    created_from: int | None = None
    created_until: int | None = None
    ended_from: int | None = None
    ended_until: int | None = None


class EventQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which events of a tenant, in the order in which they were committed. `at_from`, `at_until`: moments."""

    tenant: str = "default"
    job_id: str | None = None
    type: str | None = None
    verb: str | None = None
    correlation_id: str | None = None
    queue: str | None = None
    kind: str | None = None
    at_from: int | None = None
    at_until: int | None = None


class Page(Struct, Generic[Item], frozen=True):
    """Some of what was asked for. `cursor` goes on from here; None: this was the end."""

    items: list[Item]
    cursor: str | None = None

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class Entry(Struct, frozen=True, gc=False):
    """An event and its place in the order of commit, from which a reader can go on."""

    cursor: str
    event: Event


class Story(Struct, frozen=True, gc=False):
    """A job with its whole log and its notes, all read at one moment."""

    job: Job
    events: list[Event]
    notes: list[Note]


class Retention(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long ended jobs stay, with their logs: seconds since their end."""

    successes_s: float = 7 * DAY_S
    others_s: float = 30 * DAY_S


class Migration(Struct, frozen=True, kw_only=True):
    """One step of a store's schema. `applied_at` is None if the store does not have it yet."""

    number: int
    name: str
    sql: str
    applied_at: int | None = None


class Pruned(Struct, frozen=True):
    """What was removed. `is_done`: nothing more is old enough."""

    jobs: int = 0
    events: int = 0
    details: int = 0
    receipts: int = 0
    is_done: bool = True

    def plus(self, other: "Pruned") -> "Pruned":
        names = ("jobs", "events", "details", "receipts")
        sums: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in names}
        return Pruned(**sums, is_done=other.is_done)


def number_of(cursor: str | None, default: int = 0) -> int:
    """The place that a cursor names, where places are numbers."""
    if cursor is None:
        return default
    is_number = cursor.isascii() and cursor.isdigit() and len(cursor) <= len(str(NUMBER_MAX))
    if not is_number or int(cursor) > NUMBER_MAX:
        raise InvalidArgument(f"cursor is {shown(cursor)}; give one that a listing returned", code="bad_cursor")
    return int(cursor)
