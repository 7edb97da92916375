"""What the log adds up to while it grows: jobs by state, moves, retries, recoveries. Read event by event, once each."""

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct, field

from detent.client import Event
from detent.lifecycle import Lifecycle
from detent.lifecycle.soundness import edges
from detent.lifecycles import BUILT_IN

Moves = frozenset[tuple[str, str, str, str]]  # lifecycle, verb, from, to


class Tally(Struct):
    """`lifecycles`: what each job follows, which events do not say."""

    lifecycles: Mapping[str, str]
    states: dict[str, str] = field(default_factory=dict)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    verbs: Counter[str] = field(default_factory=Counter)
    moves: int = 0
    recoveries: int = 0
    ended: int = 0

    def add(self, event: Event) -> None:
        lifecycle = BUILT_IN[self.lifecycles[event.job_id]]
        self.moves += 1
        self.verbs[event.verb] += 1
        self.recoveries += is_recovery(lifecycle, event)
        if event.from_state is not None:
            self.counts[lifecycle.name, event.from_state] -= 1
        self.counts[lifecycle.name, event.to_state] += 1
        self.states[event.job_id] = event.to_state
        self.ended += lifecycle.by_name[event.to_state].phase == "ended"

    def of(self, lifecycle: Lifecycle) -> dict[str, int]:
        return {state.name: self.counts[lifecycle.name, state.name] for state in lifecycle.states}

    def in_phase(self, *phases: str) -> int:
        return sum(
            self.counts[lifecycle.name, state.name]
            for lifecycle in BUILT_IN.values()
            for state in lifecycle.states
            if state.phase in phases
        )


def is_recovery(lifecycle: Lifecycle, event: Event) -> bool:
    return (lifecycle.name, event.verb, event.from_state or "", event.to_state) in RECOVERIES


RECOVERIES: Moves = frozenset(
    (lifecycle.name, move.verb, source.name, target.name)
    for lifecycle in BUILT_IN.values()
    for move, source, target in edges(lifecycle)
    if move.recovery
)
