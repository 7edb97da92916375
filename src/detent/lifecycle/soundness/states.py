"""States: each has what its phase demands, and nothing leaves an end."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING, Final

from detent.lifecycle.problems import Problem, problem
from detent.lifecycle.soundness.graph import edges

if TYPE_CHECKING:
    from detent.lifecycle.lifecycle import Lifecycle


def _outcomes(lifecycle: Lifecycle) -> Iterator[Problem]:
    for state in lifecycle.states:
        if state.phase == "ended" and state.outcome is None:
            remedy = "add outcome='success', 'failure' or 'cancelled'"
            yield problem("end_without_outcome", f"state '{state.name}' is ended but does not say how; {remedy}")
        if state.phase != "ended" and state.outcome is not None:
            what = f"state '{state.name}' has an outcome but is {state.phase}"
            yield problem("outcome_without_end", f"{what}; make it ended or drop the outcome")


def _finality(lifecycle: Lifecycle) -> Iterator[Problem]:
    for move, source, _ in edges(lifecycle):
        if source.phase == "ended":
            what = f"'{move.verb}' leaves '{source.name}', which is ended and so final"
            remedy = f"drop '{source.name}' from its sources, and run a finished job again with rerun"
            yield problem("move_out_of_end", f"{what}; {remedy}")


def _times(lifecycle: Lifecycle) -> Iterator[Problem]:
    for state in lifecycle.states:
        if state.timeout_s is not None and not (isfinite(state.timeout_s) and state.timeout_s > 0):
            what = f"state '{state.name}' has timeout_s={state.timeout_s:g}"
            yield problem("bad_timeout", f"{what}; give a finite number of seconds, more than 0")
        if state.timer and state.phase != "parked":
            what = f"state '{state.name}' is a timer but {state.phase}"
            yield problem("timer_not_parked", f"{what}; make it parked or drop timer")


def _timers(lifecycle: Lifecycle) -> Iterator[Problem]:
    """Only a recovery move says how long to wait. Entered otherwise, a timer is never due."""
    for move in lifecycle.moves:
        target = lifecycle.by_name.get(move.target)
        if target is not None and target.timer and not move.recovery:
            what = f"'{move.verb}' enters the timer '{target.name}' without saying how long to wait"
            yield problem("timer_without_wait", f"{what}; enter '{target.name}' by recovery moves only, or drop timer")


RULES: Final = (_outcomes, _finality, _times, _timers)
