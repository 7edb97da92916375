"""A lifecycle compiled for deciding: for each state and verb one `Route`. Which moves are allowed is answered here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from detent.lifecycle.model import State
from detent.lifecycle.soundness import edges
from detent.lifecycle.words import EVENT_TYPES, LEASED, NOTING, WORKING

if TYPE_CHECKING:
    from detent.lifecycle.lifecycle import Lifecycle

Roles = frozenset[str]
_NOBODY: Final[Roles] = frozenset()


class Leg(Struct, frozen=True):
    """Where a route leads, and what the event of going there is called."""

    state: State
    event: str


class Route(Struct, frozen=True):
    """Everything the kernel asks about one verb from one state.

    `forward` is the leg ahead, `recovery` the way back; where both are declared the budget chooses.
    `roles_after_cancel` are let in once a cancel was requested. `implied`: a start that this verb brings along.
    """

    verb: str
    forward: Leg | None
    recovery: Leg | None
    by: tuple[str, ...]
    roles: Roles
    roles_after_cancel: Roles
    default_role: str
    owner_only: bool
    implied: Route | None = None

    @property
    def leg(self) -> Leg:
        leg = self.forward or self.recovery
        assert leg is not None, "a route leads somewhere"
        return leg


class Table(Struct, frozen=True):
    """`routes[state][verb]`; `allowed[state]` are the declared verbs, in the order of declaration.

    `start` is enqueue; `targets[verb]` are the states a verb can lead to.
    """

    routes: dict[str, dict[str, Route]]
    allowed: dict[str, tuple[str, ...]]
    start: Route
    targets: dict[str, frozenset[str]]
    heartbeat_event: str


def compile_table(lifecycle: Lifecycle) -> Table:
    routes: dict[str, dict[str, Route]] = {state.name: {} for state in lifecycle.states}
    for move, source, target in edges(lifecycle):
        leg = Leg(target, event_type(lifecycle, move.verb, target))
        earlier = routes[source.name].get(move.verb)
        routes[source.name][move.verb] = _joined(earlier, move.verb, leg, move.by, recovery=move.recovery)
    for state in lifecycle.states:
        _imply_request_cancel(lifecycle, state, routes[state.name])
    allowed = {name: tuple(verbs) for name, verbs in routes.items()}
    for state in lifecycle.states:
        _add_noting(lifecycle, state, routes)
    for state in lifecycle.states:  # once every state has its own: a held one borrows the running one's
        if lifecycle.implies_start and state.phase == "held":
            _imply_start(state, routes)
    enqueue = next(move for move in lifecycle.moves if move.verb == "enqueue")
    first = lifecycle.by_name[enqueue.target]
    start = _route("enqueue", Leg(first, event_type(lifecycle, "enqueue", first)), None, enqueue.by)
    return Table(routes, allowed, start, _targets(lifecycle), event_name(lifecycle, "heartbeat"))


def event_type(lifecycle: Lifecycle, verb: str, target: State) -> str:
    """An end is named by the state, whatever verb led there; every other move by its verb."""
    if target.phase == "ended":
        return target.event or f"job_{target.name.lower()}"
    return event_name(lifecycle, verb)


def event_name(lifecycle: Lifecycle, verb: str) -> str:
    return lifecycle.events.get(verb, EVENT_TYPES[verb])


def _targets(lifecycle: Lifecycle) -> dict[str, frozenset[str]]:
    targets: dict[str, frozenset[str]] = {}
    for move, _, target in edges(lifecycle):
        targets[move.verb] = targets.get(move.verb, frozenset()) | {target.name}
    return targets


def _joined(earlier: Route | None, verb: str, leg: Leg, by: tuple[str, ...], *, recovery: bool) -> Route:
    forward, back = (None, leg) if recovery else (leg, None)
    if earlier is not None:
        forward, back, by = earlier.forward or forward, earlier.recovery or back, tuple(dict.fromkeys(earlier.by + by))
    return _route(verb, forward, back, by)


def _route(verb: str, forward: Leg | None, recovery: Leg | None, by: tuple[str, ...]) -> Route:
    roles = frozenset(by)
    # Whether a worker is the owner is a later question than whether workers may ask at all.
    let_in = roles | WORKING if roles & WORKING else roles
    after_cancel = frozenset({"reconciler", *WORKING}) if verb == "cancel" else _NOBODY
    default = next((role for role in by if role not in WORKING), "client")
    return Route(verb, forward, recovery, by, let_in, after_cancel, default, "worker" not in roles)


def _imply_request_cancel(lifecycle: Lifecycle, state: State, verbs: dict[str, Route]) -> None:
    """ALL-17: who may cancel a leased job may also ask it to stop."""
    cancel = verbs.get("cancel")
    if state.phase in LEASED and cancel is not None and "request_cancel" not in verbs:
        leg = Leg(state, event_name(lifecycle, "request_cancel"))
        verbs["request_cancel"] = _route("request_cancel", leg, None, cancel.by)


def _add_noting(lifecycle: Lifecycle, state: State, routes: dict[str, dict[str, Route]]) -> None:
    """Progress is an owner's word on a leased job, though no move: it is checked like one and leaves a note. So is an
    artifact.
    """
    for verb in NOTING if state.phase in LEASED else ():
        leg = Leg(state, event_name(lifecycle, verb))
        routes[state.name][verb] = _route(verb, leg, None, ("owner",))


def _imply_start(state: State, routes: dict[str, dict[str, Route]]) -> None:
    """A result, progress or an artifact of a held job brings its start along: two moves in one change."""
    start = routes[state.name].get("start")
    if start is None:
        return
    for verb in ("complete", "fail", *NOTING):
        running = routes[start.leg.state.name].get(verb)
        if running is not None and (verb in NOTING or verb not in routes[state.name]):
            routes[state.name][verb] = Route(
                verb, running.forward, running.recovery, running.by, running.roles, running.roles_after_cancel,
                running.default_role, running.owner_only, implied=start,
            )  # fmt: skip
