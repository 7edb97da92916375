"""What the end of a lease, the end of a time limit and a used-up budget mean, state by state."""

from collections.abc import Iterator

from detent.lifecycle import Lifecycle, State
from detent.lifecycle.soundness.answers import COUNTED, has_way_back, when_used_up
from detent.lifecycle.soundness.graph import edges
from detent.lifecycle.table import Route
from detent.lifecycle.words import LEASED
from detent.surfaces.reference.markdown import code, table


def answers(lifecycle: Lifecycle) -> str:
    return "\n\n".join([table(("in", "when", "then"), _rows(lifecycle)), _budget(lifecycle)])


def _rows(lifecycle: Lifecycle) -> Iterator[tuple[str, str, str]]:
    for state in lifecycle.states:
        routes = lifecycle.table.routes[state.name]
        if state.phase in LEASED:
            yield code(state.name), "the lease runs out", _then(routes[lifecycle.on_expiry])
        if lifecycle.on_timeout in routes:
            yield code(state.name), _limit(lifecycle, state), _then(routes[lifecycle.on_timeout])
        if "requeue" in routes and "reconciler" in routes["requeue"].roles:
            yield code(state.name), "the wait is over", _then(routes["requeue"])


def _limit(lifecycle: Lifecycle, state: State) -> str:
    limit_s = state.timeout_s
    if limit_s is None and state.phase == "active":
        limit_s = lifecycle.defaults.timeout_s
    return f"a time limit is over ({f'{limit_s:g} s' if limit_s is not None else 'none by default'})"


def _then(route: Route) -> str:
    """Back while the budget lasts, where there is a way back."""
    leg = route.recovery or route.forward
    assert leg is not None, "a route leads somewhere"
    while_it_lasts = " while attempts are left" if route.recovery and route.forward else ""
    return f"{code(route.verb)} to {code(leg.state.name)}{while_it_lasts}"


def _budget(lifecycle: Lifecycle) -> str:
    if not has_way_back(lifecycle):
        ends = "There is no way back: the first loss ends the job, and running it again makes a new, linked job"
        return f"{ends}. With `rerun_failed` in its policy that happens by itself, after a failure that is retryable."
    return "\n\n".join(["When the attempts are used up:", table(("in", "on", "then"), _used_up(lifecycle))])


def _used_up(lifecycle: Lifecycle) -> Iterator[tuple[str, str, str]]:
    for move, source, target in edges(lifecycle):
        if move.recovery and move.verb in COUNTED and source.phase in LEASED:
            found = when_used_up(lifecycle, move, source, target)
            assert found is not None, "a sound lifecycle has an answer"
            yield code(source.name), code(move.verb), _end(lifecycle, source, *found)


def _end(lifecycle: Lifecycle, source: State, verb: str, end: State) -> str:
    then = f"{code(verb)} to {code(end.name)}"
    if end.phase != "ended":
        return f"{then}, and stays there until somebody requeues it"
    other = {"dead_letter": "fail", "fail": "dead_letter"}.get(verb, "")
    choice = lifecycle.table.routes[source.name].get(other)
    return f"{then}; with `used_up={other!r}` {code(other)} to {code(choice.leg.state.name)}" if choice else then
