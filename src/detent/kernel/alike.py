"""Jobs that are alike are decided alike: what one came to holds for the next, under its own name.

A worker claims and completes jobs by the hundred, and most of them differ in nothing that a decision looks at. So the
second of them need not be decided: it is compared with the first, and the answer is signed anew. Which fields a
decision looks at is said here; that nothing else matters is shown by a test that decides each job by itself as well.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

from detent.errors import Refused
from detent.kernel.change import Change, Receipt, together
from detent.kernel.command import Command
from detent.kernel.event import Event
from detent.kernel.job import Job, Spec
from detent.lifecycle import Lifecycle

Decide = Callable[[Lifecycle, Job | None, Command, int, float, Receipt | None], Change | Refused]
# Moves that depend on no dice, no counter and nothing that was said of the job.
_VERBS: Final = frozenset({"claim", "start", "complete"})
# And progress, which a decision does not look at, but its writing may: it is not counted as a revision.
LOOKED_AT: Final = (
    "state", "rev", "attempt", "owner", "lease_s", "lease_expires_at", "deadline_at", "cancel_by", "progress",
    "spec.policy", "spec.tenant", "spec.trace_id",
)  # fmt: skip
_looked_at: Final = attrgetter(*LOOKED_AT)


class Precedent:
    """A `decide` that remembers its last answer."""

    __slots__ = ("_change", "_command", "_decide", "_job", "_lifecycle", "_likeness", "_now", "_whole")

    def __init__(self, decide: Decide) -> None:
        self._decide = decide
        self._change: Change | None = None
        self._likeness: tuple[Any, ...] | None = None  # of the job it was made for; made when somebody comes next

    def __call__(
        self, lifecycle: Lifecycle, job: Job | None, command: Command, now: int, random: float, receipt: Receipt | None
    ) -> Change | Refused:
        if job is not None and receipt is None and self._holds_for(lifecycle, job, command, now):
            return self._for(job)
        answer = self._decide(lifecycle, job, command, now, random, receipt)
        self._change = None
        if job is not None and command.verb in _VERBS and isinstance(answer, Change) and _is_plain(answer, now):
            self._lifecycle, self._job, self._command, self._now = lifecycle, job, command, now
            self._change, self._likeness = answer, None
        return answer

    def is_for(self, command: Command) -> bool:
        """Whether its last answer was to this very request, of another job."""
        return self._change is not None and (command is self._command or command == self._command)

    def followed_by(self, job: Job, now: int) -> Change | None:
        """The same answer for another job, if that one is like the one it was given for."""
        spec, first = job.spec, self._job.spec
        if spec.lifecycle != first.lifecycle or spec.lifecycle_version != first.lifecycle_version:
            return None
        return self._for(job) if self._is_like(job, now) else None

    def _holds_for(self, lifecycle: Lifecycle, job: Job, command: Command, now: int) -> bool:
        return self.is_for(command) and lifecycle is self._lifecycle and self._is_like(job, now)

    def _is_like(self, job: Job, now: int) -> bool:
        if self._change is None or now != self._now:
            return False
        if self._likeness is None:
            self._likeness = _likeness(self._job, now)
            self._whole = whole(self._change)
        return _likeness(job, now) == self._likeness

    def _for(self, job: Job) -> Change:
        first, spec = self._change, job.spec
        assert first is not None, "it holds for this job"
        events = tuple([_signed(event, spec) for event in first.events])
        return Change(job, events, first.needs_lease, first.values, like=first, whole=self._whole)


def whole(change: Change) -> dict[str, Any]:
    """All columns that a change sets, one event after the other."""
    last, columns = change.events[-1], together(change.events)
    return {"rev": last.rev, "state": last.to_state, "updated_at": last.at, **columns, **(change.values or {})}


def _is_plain(change: Change, now: int) -> bool:
    """Whether it says nothing of other jobs, and was decided at this very moment."""
    policy = change.before.spec.policy
    alone = not change.notes and not change.spawned and change.receipt is None
    compensates = policy.compensate is not None or policy.is_compensation
    return bool(change.events) and alone and not compensates and change.before.updated_at <= now


def _likeness(job: Job, now: int) -> tuple[Any, ...]:
    is_due = job.claim_at is not None and job.claim_at <= now
    return is_due, job.updated_at <= now, _looked_at(job)


def _signed(event: Event, spec: Spec) -> Event:
    """By position: it is made by the hundred."""
    return Event(
        event.tenant, spec.id, event.rev, event.type, event.verb, event.from_state, event.to_state, event.at,
        event.actor, event.role, event.worker, event.attempt, event.request_id, spec.correlation_id, event.trace_id,
        event.cause, event.changes, event.payload, event.version,
    )  # fmt: skip
