"""One event in its place: what the log added up to before it and after it, and the move it claims to be."""

from typing import Any

from msgspec import Struct

from detent.kernel.event import Event
from detent.kernel.fold import fold_one
from detent.lifecycle import Lifecycle, Policy, State
from detent.lifecycle.table import Route
from detent.lifecycle.words import NOTING

Columns = dict[str, Any]


class Step(Struct, frozen=True, gc=False):
    """What a check may ask about one event.

    `route` is the declared move of its verb from its state, `state` where it leads; None if there is no such thing.
    `at` is never before the event it follows, so that a clock that stepped back is one fault (I22) and not several.
    """

    lifecycle: Lifecycle
    policy: Policy
    before: Columns
    after: Columns
    event: Event
    route: Route | None
    state: State | None
    at: int
    run_at: int | None


def step_of(lifecycle: Lifecycle, before: Columns, event: Event, policy: Policy, run_at: int | None) -> Step:
    after = dict(before)
    fold_one(after, event)
    last = before["updated_at"]
    return Step(
        lifecycle, policy, before, after, event, _declared(lifecycle, event), lifecycle.by_name.get(event.to_state),
        event.at if last is None or event.at >= last else last, run_at,
    )  # fmt: skip


def broken_chain(before: Columns, event: Event) -> str | None:
    """I1. After a hole the log adds up to nothing, so that no other question makes sense."""
    if event.rev != before["rev"] + 1:
        return f"revision {event.rev} follows revision {before['rev']}"
    if event.from_state != before["state"]:
        return f"'{event.verb}' starts in {event.from_state!r}, but the job was in {before['state']!r}"
    return None


def _declared(lifecycle: Lifecycle, event: Event) -> Route | None:
    table = lifecycle.table
    if event.from_state is None:
        return table.start if event.verb == "enqueue" else None
    route = table.routes.get(event.from_state, {}).get(event.verb)
    # What leaves a note, and a result that brings its start along, can be asked for; neither is a move.
    if route is None or route.implied is not None or event.verb in NOTING:
        return None
    return route
