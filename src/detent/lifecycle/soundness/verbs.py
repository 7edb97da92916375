"""What each verb demands of the states it leaves and enters: exactly what the kernel's rule for it relies on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from detent.lifecycle.model import Move, State
from detent.lifecycle.problems import Problem, problem
from detent.lifecycle.soundness.graph import roles
from detent.lifecycle.words import LEASED, Outcome

if TYPE_CHECKING:
    from detent.lifecycle.lifecycle import Lifecycle

    VerbRule = Callable[[Lifecycle, "Edge"], Iterator[Problem]]

ENDINGS: Final[dict[str, tuple[Outcome, ...]]] = {
    "complete": ("success",),
    "fail": ("failure",),
    "dead_letter": ("failure",),
    "deny": ("failure",),
    "cancel": ("cancelled", "failure"),
    "expire": ("failure",),
    "time_out": ("failure",),
}


class Edge(NamedTuple):
    move: Move
    source: State
    target: State

    def __str__(self) -> str:
        return f"'{self.move.verb}' leads '{self.source.name}' to '{self.target.name}'"


def _claim(lifecycle: Lifecycle, edge: Edge) -> Iterator[Problem]:
    if edge.source.phase in LEASED or edge.target.phase not in LEASED:
        yield problem("claim_without_lease", f"{edge}; a claim goes from ready or parked to held or active")


def _start(lifecycle: Lifecycle, edge: Edge) -> Iterator[Problem]:
    if (edge.source.phase, edge.target.phase) != ("held", "active"):
        yield problem("bad_start_move", f"{edge}; a start goes from held to active")


def _renew(lifecycle: Lifecycle, edge: Edge) -> Iterator[Problem]:
    if edge.source is not edge.target or edge.source.phase not in LEASED:
        yield problem("bad_renew", f"{edge}; make it a self-move (to 'same') of a held or active state")


def _request_cancel(lifecycle: Lifecycle, edge: Edge) -> Iterator[Problem]:
    """When the grace is over the system cancels, so cancel must be there."""
    is_leased_self_move = edge.source is edge.target and edge.source.phase in LEASED
    if not is_leased_self_move or (edge.source.name, "cancel") not in roles(lifecycle):
        remedy = (
            "make it a self-move of a held or active state that also has cancel, or leave it out: cancel implies it"
        )
        yield problem("bad_request_cancel", f"{edge}; {remedy}")


def _ending(lifecycle: Lifecycle, edge: Edge) -> Iterator[Problem]:
    wanted = ENDINGS[edge.move.verb]
    is_undecided = edge.target.phase == "ended" and edge.target.outcome is None  # reported as the state's own problem
    if edge.target.outcome not in wanted and not is_undecided:
        yield problem("wrong_outcome", f"{edge}; lead it to an ended state with the outcome {' or '.join(wanted)}")


def _time_out(lifecycle: Lifecycle, edge: Edge) -> Iterator[Problem]:
    yield from _back(lifecycle, edge) if edge.move.recovery else _ending(lifecycle, edge)


def _expire(lifecycle: Lifecycle, edge: Edge) -> Iterator[Problem]:
    yield from _time_out(lifecycle, edge) if edge.source.phase in LEASED else _no_lease(edge)


def _loss(lifecycle: Lifecycle, edge: Edge) -> Iterator[Problem]:
    """The attempt is over, whatever becomes of the job."""
    if edge.source.phase not in LEASED:
        yield from _no_lease(edge)
    elif not edge.move.recovery:
        what = f"{edge}: the attempt is over and the job is not, yet it is not declared recovery"
        yield problem("recovery_not_declared", f"{what}; add recovery=True")
    else:
        yield from _back(lifecycle, edge)


def _no_lease(edge: Edge) -> Iterator[Problem]:
    what = f"'{edge.move.verb}' leaves '{edge.source.name}', which is {edge.source.phase} and has no lease to lose"
    yield problem("no_lease_to_lose", f"{what}; drop '{edge.source.name}' from its sources")


def _back(lifecycle: Lifecycle, edge: Edge) -> Iterator[Problem]:
    ends_attempt = edge.source.phase in LEASED and edge.target.phase in ("ready", "parked")
    resumes = (edge.source.phase, edge.target.phase) == ("parked", "ready")
    if not ends_attempt and not resumes:
        remedy = "a recovery goes from held or active back to ready or parked, or from parked to ready"
        yield problem("not_a_recovery", f"{edge}; {remedy}")


def _requeue(lifecycle: Lifecycle, edge: Edge) -> Iterator[Problem]:
    if not edge.move.recovery or (edge.source.phase, edge.target.phase) != ("parked", "ready"):
        yield problem("bad_requeue", f"{edge}; make it go from parked to ready, with recovery=True")


def _onward(lifecycle: Lifecycle, edge: Edge) -> Iterator[Problem]:
    if edge.target.phase not in ("parked", "ready") and edge.target.outcome != "success":
        remedy = "lead it to a parked or ready state, or to an ended one with the outcome success"
        yield problem("wrong_target", f"{edge}; {remedy}")


def _schedule(lifecycle: Lifecycle, edge: Edge) -> Iterator[Problem]:
    """The verdict may be no: then the job is scheduled and denied in one change."""
    if edge.target.phase != "ready":
        yield problem("bad_schedule", f"{edge}; lead it to a ready state")
    elif (edge.target.name, "deny") not in roles(lifecycle):
        yield problem("bad_schedule", f"{edge}; declare deny from '{edge.target.name}' too")


VERB_RULES: Final[dict[str, VerbRule]] = {
    "claim": _claim,
    "start": _start,
    "renew": _renew,
    "request_cancel": _request_cancel,
    "submit": _onward,
    "approve": _onward,
    "schedule": _schedule,
    "requeue": _requeue,
    **dict.fromkeys(("complete", "fail", "dead_letter", "deny", "cancel"), _ending),
    "time_out": _time_out,
    "expire": _expire,
    **dict.fromkeys(("retry", "release", "stall"), _loss),
}
