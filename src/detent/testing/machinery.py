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
from detent.lifecycle.words import WORKING

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
        """As a client does it: decide on what it remembers; if that no longer holds, on the record as it is."""
        if seen is not None and receipt is None:
            guess = self.decide(self.lifecycle, seen, command, now, None)
            if isinstance(guess, Change) and self.holds(guess, job, now):
                return guess
        return self.decide(self.lifecycle, job, command, now, receipt)

    def write(self, job: Job, command: Command, change: Change) -> Job:
        """Apply a change to the register and judge what was written."""
        after = change.job
        columns = {name: getattr(job, name) for name in FOLDED}
        self._judge_call(job, command, change)
        for event in self.log(change):
            self.violations += check_event(self.lifecycle, columns, event, job.spec.policy, run_at=job.spec.run_at)
            fold_one(columns, event)
        self.violations += check_row(self.lifecycle, columns, after)
        return after

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
