"""The answer of the kernel when it accepts: what to write, and what must still hold when it is written."""

from collections.abc import Sequence
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from detent.kernel.event import Event, Note
from detent.kernel.job import Job

# applied: events to write. The others write no event: a repeat of a request, the live job of a dedupe key,
# a request for what already is, something noted only.
Answer = Literal["applied", "repeat", "duplicate", "unchanged", "noted"]
_NOTHING: Final[dict[str, Any]] = {}


class Receipt(Struct, frozen=True, gc=False):
    """What is remembered of a request that was carried out, so that a repeat of it can be told from another one.

    A repeat answers with the job it names: for a rerun that is the new one.
    """

    request_id: str
    digest: str
    job_id: str
    rev: int


class Change(Struct, frozen=True, gc=False):
    """One or more moves of one job, decided together and written together.

    It was decided on `before`: the store applies it only while the job is still at that revision, and, if it is an
    owner's (`needs_lease`), while the lease is still live at the store's own clock.
    `values` are the bulky columns that go on the record and, by digest only, into the log.
    `spawned` are changes that create other jobs and belong to the same transaction: a rerun of a failed job.
    `like` is the change of another job that this one follows word for word, and `whole` is all that both set.
    """

    before: Job
    events: tuple[Event, ...]
    needs_lease: bool = False
    values: dict[str, Any] | None = None
    answer: Answer = "applied"
    notes: tuple[Note, ...] = ()
    spawned: tuple["Change", ...] = ()
    receipt: Receipt | None = None
    like: "Change | None" = None
    whole: dict[str, Any] | None = None

    @property
    def job(self) -> Job:
        """The record after the change. Made when asked for: a store that writes columns has no need of it."""
        if self.whole is not None:
            return replace(self.before, **self.whole)
        job, values = self.before, self.values or {}
        for event in self.events[:-1]:
            job = evolve(job, event)
        return evolve(job, self.events[-1], values) if self.events else replace(job, **values)


def together(events: Sequence[Event]) -> dict[str, Any]:
    """The columns that these set, one after the other."""
    columns: dict[str, Any] = {}
    for event in events:
        columns |= event.changes
    return columns


def evolve(job: Job, event: Event, values: dict[str, Any] = _NOTHING) -> Job:
    """The record one event later, with what was said along. The fold of a log is this, from first event to last."""
    # One dict, made beforehand: several sets of keywords in a call would take twice as long.
    columns = {"rev": event.rev, "state": event.to_state, "updated_at": event.at, **event.changes, **values}
    return replace(job, **columns)


def holds(change: Change, job: Job, now: int) -> bool:
    """Whether a change decided earlier may be applied to this record at this moment.

    The revision fixes the whole record, its owner and attempt too. Only time goes on without it.
    """
    if change.before.rev != job.rev:
        return False
    return not change.needs_lease or (job.lease_expires_at is not None and now < job.lease_expires_at)
