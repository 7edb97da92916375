"""A lifecycle as a picture: for a terminal, and for anything that draws Mermaid. Both show what `describe` lists."""

from typing import Final, NamedTuple

from detent.lifecycle.describe import rows
from detent.lifecycle.lifecycle import Lifecycle
from detent.lifecycle.model import State
from detent.lifecycle.words import PHASES

BACK: Final = "(recovery)"
PHASE_WIDTH: Final = max(map(len, PHASES)) + 2


class Arrow(NamedTuple):
    """All verbs that lead from one state to another in the same manner, drawn once."""

    source: str
    target: str
    recovery: bool
    verbs: tuple[str, ...]

    @property
    def label(self) -> str:
        return ", ".join(self.verbs)


def as_text(lifecycle: Lifecycle) -> str:
    """Each state after its phase, with the arrows that leave it: `──▶` goes forward, `┄┄▶` back, `──↺` stays."""
    drawn = arrows(lifecycle)
    width = max(len(arrow.label) for arrow in drawn)
    start = lifecycle.table.start.leg.state.name
    lines = [f"{lifecycle.name} v{lifecycle.version}", "", f"{'':{PHASE_WIDTH}}● ── enqueue ──▶ {start}", ""]
    for state in lifecycle.states:
        if state.phase != "ended":
            leaving = (_arrow_line(arrow, width) for arrow in drawn if arrow.source == state.name)
            lines += [_state_line(state), *leaving, ""]
    return "\n".join([*lines, *_end_lines(lifecycle)]) + "\n"


def as_mermaid(lifecycle: Lifecycle) -> str:
    """A `stateDiagram-v2`. States get ids, because a name may be a word that Mermaid keeps for itself."""
    ids = {state.name: f"s{number}" for number, state in enumerate(lifecycle.states, start=1)}
    lines = ["stateDiagram-v2"]
    lines += [f'    state "{_caption(state)}" as {ids[state.name]}' for state in lifecycle.states]
    lines.append(f"    [*] --> {ids[lifecycle.table.start.leg.state.name]} : enqueue")
    for arrow in arrows(lifecycle):
        back = f" {BACK}" if arrow.recovery else ""
        lines.append(f"    {ids[arrow.source]} --> {ids[arrow.target]} : {arrow.label}{back}")
    lines += [f"    {ids[state.name]} --> [*]" for state in lifecycle.states if state.phase == "ended"]
    return "\n".join(lines) + "\n"


def arrows(lifecycle: Lifecycle) -> list[Arrow]:
    """Every move but enqueue, in the order of declaration."""
    verbs: dict[tuple[str, str, bool], list[str]] = {}
    for row in rows(lifecycle):
        if row["from"] is not None:
            verbs.setdefault((row["from"], row["to"], row["recovery"]), []).append(row["verb"])
    return [Arrow(*ends, tuple(names)) for ends, names in verbs.items()]


def _state_line(state: State) -> str:
    limit = f" (at most {state.timeout_s:g} s)" if state.timeout_s is not None else ""
    return f"{state.phase:<{PHASE_WIDTH}}{state.name}{limit}"


def _end_lines(lifecycle: Lifecycle) -> list[str]:
    """Nothing leaves an end, so they stand close together, last, wherever they were declared."""
    ends = [state for state in lifecycle.states if state.phase == "ended"]
    width = max(len(state.name) for state in ends)
    return [f"{state.phase:<{PHASE_WIDTH}}{state.name:<{width}}  {state.outcome}" for state in ends]


def _arrow_line(arrow: Arrow, width: int) -> str:
    line = "┄" if arrow.recovery else "─"
    shaft = line * (width - len(arrow.label) + 2)
    head = "↺" if arrow.source == arrow.target else f"▶ {arrow.target}"
    back = f" {BACK}" if arrow.recovery else ""
    return f"{'':{PHASE_WIDTH}}{line * 2} {arrow.label} {shaft}{head}{back}"


def _caption(state: State) -> str:
    return f"{state.name} ({state.outcome or state.phase})"
