"""What only time can show: that nothing stays longer than it may, a job asked to stop included (I17, I16)."""

from collections.abc import Iterable

from detent.audit.invariants import Violation
from detent.audit.waiting import deadline
from detent.kernel.event import Event
from detent.kernel.fold import fold, fold_one
from detent.lifecycle import Lifecycle, Policy, State
from detent.lifecycle.words import LEASED


def check_dwell(
    lifecycle: Lifecycle, events: Iterable[Event], policy: Policy, slack_us: int, now: int
) -> list[Violation]:
    """`slack_us`: how late the system may be, its period and its outages together. `now`: when the log was read."""
    dwell = Dwell(lifecycle, policy, slack_us)
    found: list[Violation] = []
    for event in events:
        found += dwell.overdue(event.at)
        dwell.enter(event)
    return found + dwell.overdue(now)


class Dwell:
    """The clocks of one job: by when it must have moved on."""

    def __init__(self, lifecycle: Lifecycle, policy: Policy, slack_us: int) -> None:
        self._lifecycle = lifecycle
        self._policy = policy
        self._slack_us = slack_us
        self._last: Event | None = None
        self._columns = fold(())
        self._ends: dict[str, int] = {}

    def enter(self, event: Event) -> None:
        """After an event: which clocks run now."""
        is_new = self._columns["state"] != event.to_state
        fold_one(self._columns, event)
        self._last = event
        state = self._lifecycle.by_name.get(event.to_state)
        if state is not None:
            self._wind(state, event, is_new=is_new)

    def overdue(self, until: int) -> list[Violation]:
        """What should have ended before this moment and had not. Said once for each time a clock was wound."""
        late = [what for what, end in self._ends.items() if until > end + self._slack_us]
        return [self._late(what, until) for what in late]

    def _wind(self, state: State, event: Event, *, is_new: bool) -> None:
        """A renewal winds the lease's clock only; a state's own starts on entry, or when the job is due anew."""
        columns = self._columns
        if is_new or "due_at" in event.changes:
            self._set("time", deadline(self._policy, state, entered=event.at, due=columns["due_at"]))
        if is_new or event.verb == "request_cancel":
            self._set("grace", columns["cancel_by"])
        self._set("lease", columns["heartbeat_by"] if state.phase in LEASED else None)
        self._set("wait", columns["due_at"] if state.phase == "parked" else None)

    def _set(self, what: str, end: int | None) -> None:
        if end is None:
            self._ends.pop(what, None)
        else:
            self._ends[what] = end

    def _late(self, what: str, until: int) -> Violation:
        event, end = self._last, self._ends.pop(what)
        assert event is not None, "no clock runs before the first event"
        message = f"its {what} in '{event.to_state}' was over at {end}; {until - end} µs later it was still there"
        return Violation("I16" if what == "grace" else "I17", event.job_id, event.rev, message)
