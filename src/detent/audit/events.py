"""Checking one event against what the log added up to before it. The table says which function checks what."""

from collections.abc import Callable
from typing import Final

from detent.audit import budget, compensating, leases, moves, waiting
from detent.audit.invariants import Violation
from detent.audit.step import Columns, Step, broken_chain, step_of
from detent.kernel.event import Event
from detent.lifecycle import Lifecycle, Policy

# A check answers with what is wrong, or None. Each fault is one invariant's: the checks leave to one another what is.
CHECKS: Final[dict[str, Callable[[Step], str | None]]] = {
    "I2": moves.declared_move,
    "I4": moves.final_end,
    "I5": leases.attempt_count,
    "I6": leases.fence,
    "I7": leases.one_holder,
    "I8": leases.late_enough,
    "I9": budget.counted_losses,
    "I16": waiting.stopping,
    "I17": waiting.limited,
    "I18": waiting.in_time,
    "I21": budget.dead_letter,
    "I22": moves.time_order,
    "I27": compensating.compensated,
}


def check_event(
    lifecycle: Lifecycle, before: Columns, event: Event, policy: Policy, *, run_at: int | None = None
) -> list[Violation]:
    """Everything that can be judged from the fold before an event and the event. `before` is not changed.

    `run_at` is the job's own not-before, if it has one.
    """
    broken = broken_chain(before, event)
    if broken is not None:
        return [Violation("I1", event.job_id, event.rev, broken)]
    if before["phase"] == "ended":
        return [Violation("I4", event.job_id, event.rev, f"'{event.verb}' follows the end in '{before['state']}'")]
    step = step_of(lifecycle, before, event, policy, run_at)
    return [
        Violation(invariant, event.job_id, event.rev, message)
        for invariant, check in CHECKS.items()
        if (message := check(step)) is not None
    ]
