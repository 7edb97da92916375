"""What the exploration runs: the real kernel over an in-memory compare-and-set register, and a judge over every write.

Each part can be replaced by a broken one. That is how the exploration is shown to bite.
"""

from collections.abc import Callable

from detent import kernel
from detent.audit import Violation, check_event, check_row
from detent.errors import Refused
from detent.kernel import Change, Event, Job, Receipt
from detent.kernel.command import Command
from detent.kernel.fold import fold_one
from detent.kernel.job import FOLDED
from detent.lifecycle import Lifecycle
from detent.lifecycle.words import NOTING, WORKING

Decide = Callable[[Lifecycle, Job, Command, int, Receipt | None], Change | Refused]


def real_decide(
    lifecycle: Lifecycle, job: Job, command: Command, now: int, receipt: Receipt | None
) -> Change | Refused:
    return kernel.decide(lifecycle, job, command, now, 0.5, receipt)


class Machinery:
    """`decide` decides, `holds` guards the write, `log` is what gets written to the log of a change."""

    def __init__(
        self,
        lifecycle: Lifecycle,
        *,
        decide: Decide = real_decide,
        holds: Callable[[Change, Job, int], bool] = kernel.holds,
        log: Callable[[Change], tuple[Event, ...]] = lambda change: change.events,
    ) -> None:
        self.lifecycle = lifecycle
        self.decide = decide
        self.holds = holds
        self.log = log
        self.violations: list[Violation] = []

    def ask(self, job: Job, seen: Job | None, command: Command, now: int, receipt: Receipt | None) -> Change | Refused:
        """As a client does it: decide on what it remembers; if that no longer holds, on the record as it is.

        The client decided when it last heard of the job, and may have been asleep since; only the register's clock
        at the moment of the write can tell that its lease is over.
        """
        if seen is not None and receipt is None:
            early = self.decide(self.lifecycle, seen, command, seen.updated_at, None)
            if isinstance(early, Change) and early.events and self.holds(early, job, now):
                # The register makes the times itself: the same change, decided again as of the write.
                stamped = self.decide(self.lifecycle, seen, command, now, None)
                return stamped if isinstance(stamped, Change) else early
        return self.decide(self.lifecycle, job, command, now, receipt)

    def write(self, job: Job, command: Command, change: Change, now: int) -> Job:
        """Apply a change to the register and judge what was written."""
        after = change.job
        if change.needs_lease and not self._is_in_time(job, now):
            message = f"'{command.verb}' of {command.worker} written after its lease had ended"
            self.violations.append(Violation("I6", job.id, job.rev + 1, message))
        columns = {name: getattr(job, name) for name in FOLDED}
        self._judge_call(job, command, change)
        for event in self.log(change):
            self.violations += check_event(self.lifecycle, columns, event, job.spec.policy, run_at=job.spec.run_at)
            fold_one(columns, event)
        self.violations += check_row(self.lifecycle, columns, after)
        return after

    def judge_notes(self, job: Job, command: Command, change: Change, now: int) -> None:
        """I6 of what an owner says without moving the job: it is the owner, of this attempt, and its lease is live."""
        if command.verb not in NOTING or not change.notes:
            return
        if (command.worker, command.attempt) != (job.owner, job.attempt) or not self._is_in_time(job, now):
            message = f"'{command.verb}' of {command.worker} for attempt {command.attempt} noted, and not the owner's"
            self.violations.append(Violation("I6", job.id, job.rev, message))

    def _is_in_time(self, job: Job, now: int) -> bool:
        return job.lease_expires_at is None or now < job.lease_expires_at

    def _judge_call(self, job: Job, command: Command, change: Change) -> None:
        """I6, from the caller's side: what it said it was must be what the record says it is."""
        if not change.events or change.events[0].role not in WORKING or command.verb == "claim":
            return
        attempt = job.attempt if command.attempt is None else command.attempt
        if (command.worker, attempt) != (job.owner, job.attempt):
            holder = f"{job.owner} holds attempt {job.attempt}" if job.is_leased else "nobody holds it"
            message = f"'{command.verb}' accepted from {command.worker} for attempt {attempt}, while {holder}"
            self.violations.append(Violation("I6", job.id, job.rev + 1, message))

    def judge_repeat(self, job: Job, command: Command, receipt: Receipt | None, answer: Change | Refused) -> None:
        """I12: a request that had its effect has no second one."""
        if receipt is not None and isinstance(answer, Change) and answer.events:
            message = f"request {command.request_id} took effect twice"
            self.violations.append(Violation("I12", job.id, job.rev + 1, message))

    def judge_conflict(self, job: Job, command: Command) -> None:
        """I12: other content under the same request id has no effect at all."""
        message = f"request {command.request_id} was accepted again with other content"
        self.violations.append(Violation("I12", job.id, None, message))
