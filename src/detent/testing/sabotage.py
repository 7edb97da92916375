"""Kernels with one safeguard switched off. A search that does not notice them proves nothing about the real one."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from detent.errors import Refused
from detent.kernel import Change, Event, Job, Receipt
from detent.kernel.command import Command
from detent.lifecycle import Lifecycle, Retry
from detent.lifecycle.words import NOTING
from detent.testing.machinery import Machinery, real_decide


def without_fence(
    lifecycle: Lifecycle, job: Job, command: Command, now: int, receipt: Receipt | None
) -> Change | Refused:
    """The attempt a caller names is taken to be the present one."""
    return real_decide(lifecycle, job, replace(command, attempt=job.attempt), now, receipt)


def without_owner_check(
    lifecycle: Lifecycle, job: Job, command: Command, now: int, receipt: Receipt | None
) -> Change | Refused:
    """Any worker is taken for the owner, whatever attempt it has in mind."""
    if command.worker is not None and job.owner is not None:
        command = replace(command, worker=job.owner, attempt=job.attempt)
    return real_decide(lifecycle, job, command, now, receipt)


def without_lease_check(
    lifecycle: Lifecycle, job: Job, command: Command, now: int, receipt: Receipt | None
) -> Change | Refused:
    """An owner whose lease is over is taken to be in time."""
    if command.worker is None or job.lease_expires_at is None or now < job.lease_expires_at:
        return real_decide(lifecycle, job, command, now, receipt)
    return _on(job, real_decide(lifecycle, replace(job, lease_expires_at=now + 1), command, now, receipt))


def without_crash_budget(
    lifecycle: Lifecycle, job: Job, command: Command, now: int, receipt: Receipt | None
) -> Change | Refused:
    """A lost lease is never one too many; failures are bounded as ever."""
    if command.verb != lifecycle.on_expiry:
        return real_decide(lifecycle, job, command, now, receipt)
    boundless = replace(job.spec, policy=replace(job.spec.policy, retry=Retry(max_attempts=1_000, base_s=0)))
    return _on(job, real_decide(lifecycle, replace(job, spec=boundless), command, now, receipt))


def without_receipts(
    lifecycle: Lifecycle, job: Job, command: Command, now: int, receipt: Receipt | None
) -> Change | Refused:
    """Nothing is remembered of a request that was carried out."""
    return real_decide(lifecycle, job, command, now, None)


def without_revision_check(change: Change, job: Job, now: int) -> bool:
    """A change decided on an older revision is written as long as somebody's lease is live."""
    return not change.needs_lease or job.lease_expires_at is None or now < job.lease_expires_at


def without_lease_at_the_write(change: Change, job: Job, now: int) -> bool:
    """The revision still holds; that the lease ran out since the decision is overlooked."""
    return change.before.rev == job.rev


def lost_event(change: Change) -> tuple[Event, ...]:
    return change.events[:-1]


def doubled_event(change: Change) -> tuple[Event, ...]:
    return (*change.events, change.events[-1])


def forgotten_compensation(change: Change) -> tuple[Event, ...]:
    """The job ends, and nothing is said of what undoes it."""
    *others, last = change.events
    said = {name: value for name, value in (last.payload or {}).items() if name != "compensation_job_id"}
    return (*others, replace(last, payload=said or None))


def without_compensation_failed(
    lifecycle: Lifecycle, job: Job, command: Command, now: int, receipt: Receipt | None
) -> Change | Refused:
    """A compensation ends like any other job."""
    other = replace(job.spec, policy=replace(job.spec.policy, is_compensation=False))
    return _on(job, real_decide(lifecycle, replace(job, spec=other), command, now, receipt))


def without_fence_on_notes(
    lifecycle: Lifecycle, job: Job, command: Command, now: int, receipt: Receipt | None
) -> Change | Refused:
    """What is only noted is taken from any worker."""
    if command.verb in NOTING and job.owner is not None:
        command = replace(command, worker=job.owner, attempt=job.attempt, expected_rev=None)
    return real_decide(lifecycle, job, command, now, receipt)


# By what is missing.
SABOTAGE: Final[dict[str, Callable[[Lifecycle], Machinery]]] = {
    "the fence": lambda lifecycle: Machinery(lifecycle, decide=without_fence),
    "the revision check": lambda lifecycle: Machinery(lifecycle, holds=without_revision_check),
    "the owner check": lambda lifecycle: Machinery(lifecycle, decide=without_owner_check),
    "the lease check": lambda lifecycle: Machinery(lifecycle, decide=without_lease_check),
    "the lease check at the write": lambda lifecycle: Machinery(lifecycle, holds=without_lease_at_the_write),
    "the event of a move": lambda lifecycle: Machinery(lifecycle, log=lost_event),
    "the single event": lambda lifecycle: Machinery(lifecycle, log=doubled_event),
    "the crash budget": lambda lifecycle: Machinery(lifecycle, decide=without_crash_budget),
    "the memory of requests": lambda lifecycle: Machinery(lifecycle, decide=without_receipts),
    "the compensation": lambda lifecycle: Machinery(lifecycle, log=forgotten_compensation),
    "the reason of a compensation": lambda lifecycle: Machinery(lifecycle, decide=without_compensation_failed),
    "the fence of a note": lambda lifecycle: Machinery(lifecycle, decide=without_fence_on_notes),
}


def _on(job: Job, answer: Change | Refused) -> Change | Refused:
    """The change as if it had been decided on the record as it is."""
    return replace(answer, before=job) if isinstance(answer, Change) else answer
