"""The page of one lifecycle: its pictures, its tables, and what time and failure do to a job that follows it."""

from detent.lifecycle import SAME, Lifecycle
from detent.lifecycle.describe import joined_rows
from detent.lifecycle.diagram import as_mermaid, as_text
from detent.lifecycle.table import event_name, event_type
from detent.lifecycle.words import NOTING
from detent.surfaces.reference.answers import answers
from detent.surfaces.reference.markdown import code, codes, fence, page, section, table
from detent.surfaces.reference.settings import settings


def lifecycle_page(lifecycle: Lifecycle) -> str:
    return page(
        f"{lifecycle.name} (version {lifecycle.version})",
        *([lifecycle.summary] if lifecycle.summary else []),
        section("Diagram", fence("mermaid", as_mermaid(lifecycle)), fence("text", as_text(lifecycle))),
        section("States", _states(lifecycle)),
        section("Moves", _moves(lifecycle)),
        section("When time or attempts run out", answers(lifecycle)),
        section("Rules and defaults", settings(lifecycle)),
        section("Events", _events(lifecycle)),
        *_old_names(lifecycle),
    )


def _states(lifecycle: Lifecycle) -> str:
    rows = (
        (code(state.name), state.phase, state.outcome, f"{state.timeout_s:g} s" if state.timeout_s else None)
        for state in lifecycle.states
    )
    return table(("state", "phase", "outcome", "time limit"), rows)


def _moves(lifecycle: Lifecycle) -> str:
    rows = (
        (codes(row["from"]) or "–", code(row["verb"]), _target(row["to"]), ", ".join(row["by"]), _yes(row["recovery"]))
        for row in joined_rows(lifecycle)
    )
    return table(("from", "verb", "to", "by", "recovery"), rows)


def _target(name: str) -> str:
    return "the same" if name == SAME else code(name)


def _yes(is_so: bool) -> str:
    return "yes" if is_so else ""


def _events(lifecycle: Lifecycle) -> str:
    return f"{_events_of_moves(lifecycle)}\n\n{_events_of_ends(lifecycle)}"


def _events_of_moves(lifecycle: Lifecycle) -> str:
    """By verb, for moves that do not end the job, and what a worker says without moving it."""
    types = {}
    for row in joined_rows(lifecycle):
        target = lifecycle.state(row["from"][0] if row["to"] == SAME else row["to"])
        if target.phase != "ended":
            types[code(row["verb"])] = event_type(lifecycle, row["verb"], target)
    types["`renew` that carries progress or a checkpoint"] = lifecycle.table.heartbeat_event
    types |= {f"{code(verb)}, a note": event_name(lifecycle, verb) for verb in NOTING}
    return table(("move", "event type"), ((what, code(name)) for what, name in types.items()))


def _events_of_ends(lifecycle: Lifecycle) -> str:
    """By state: an end is named for what it is, whatever verb led there."""
    ends = [state for state in lifecycle.states if state.phase == "ended"]
    rows = ((code(state.name), code(event_type(lifecycle, "cancel", state))) for state in ends)
    return table(("end", "event type"), rows)


def _old_names(lifecycle: Lifecycle) -> list[str]:
    states = [("state", code(old), code(new)) for old, new in lifecycle.aliases.items()]
    events = [("event", code(old), code(new)) for new, old in lifecycle.legacy_events.items()]
    if not states and not events:
        return []
    what = "Old state names are still understood; old event types can be emitted beside the new ones."
    return [section("Old names", what, table(("kind", "old", "new"), states + events))]
