"""From events and notes to sentences: what a job's story reads like."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from msgspec import Struct

from detent.client import Event, Note
from detent.client.moments import to_moment
from detent.client.reasons import described
from detent.errors import REFUSALS
from detent.kernel import Error
from detent.surfaces.cli.times import between, clock, span

# What a verb is in a story; the event's own type is told where it adds something.
_DEEDS: Final = {
    "enqueue": "enqueued by {actor}",
    "submit": "submitted by {actor}",
    "schedule": "judged by {actor}",
    "approve": "approved by {actor}",
    "deny": "denied by {actor}",
    "claim": "claimed by {actor}, attempt {attempt}",
    "start": "started by {actor}",
    "renew": "heartbeat from {actor}",
    "complete": "completed by {actor}",
    "fail": "failed, as {actor} reports",
    "retry": "sent round again: attempt {attempt} failed, as {actor} reports",
    "release": "given back by {actor}",
    "stall": "set aside by {actor}",
    "requeue": "put back into its queue by {actor}",
    "expire": "taken back by {actor}: the lease of attempt {attempt} was over",
    "time_out": "out of time, as {actor} found",
    "request_cancel": "asked to stop by {actor}",
    "cancel": "cancelled by {actor}",
    "dead_letter": "set aside as a dead letter by {actor}",
}
_SILENT: Final = "taken back by {actor}: attempt {attempt} missed two heartbeats, though its lease was until {late}"
_TOO_LATE: Final = {
    "illegal_move": "by then the job had ended or gone on",
    "not_owner": "by then another worker, or a newer attempt, had the job",
    "lease_expired": "its lease had run out before",
    "stale_rev": "by then the job had moved on",
}
KEPT_CHARS_MAX: Final = 200  # of a late result, in a story
_TROUBLE: Final = frozenset({"fail", "retry", "expire", "time_out", "stall", "deny", "dead_letter"})


class Entry(Struct, frozen=True):
    """A line of the story. `state` is where the job went; None: it went nowhere, something was said."""

    at: datetime
    rev: int
    state: str | None
    what: str
    why: str = ""
    is_trouble: bool = False


def told(events: Iterable[Event], notes: Iterable[Note]) -> list[Entry]:
    """In order; heartbeats that follow one another are told as one, and so are reports of progress."""
    entries = [*_moves(events), *_notes(notes)]
    return sorted(entries, key=lambda entry: (entry.at, entry.rev, entry.state is None))  # a note follows its revision


def _moves(events: Iterable[Event]) -> Iterator[Entry]:
    beats: list[Event] = []
    for event in events:
        if event.verb == "renew" and (not beats or _who(beats[-1]) == _who(event)):
            beats.append(event)
            continue
        yield from _beats(beats)
        beats = [event] if event.verb == "renew" else []
        if not beats:
            yield _move(event)
    yield from _beats(beats)


def _beats(beats: list[Event]) -> Iterator[Entry]:
    if len(beats) == 1:
        yield _move(beats[0])
    elif beats:
        first, last = beats[0], beats[-1]
        what = f"{len(beats)} heartbeats from {_who(last)} in {between(first.at, last.at)}"
        said = [why for beat in beats if (why := _why(beat))]
        yield Entry(last.at, last.rev, last.to_state, what, said[-1] if said else "")


def _move(event: Event) -> Entry:
    return Entry(event.at, event.rev, event.to_state, deed(event), _why(event), event.verb in _TROUBLE)


def deed(event: Event) -> str:
    """What was done and by whom, such as `claimed by w1, attempt 2, lease until 02:10:42.120`."""
    known = _DEEDS.get(event.verb)
    if known is None:  # a log that was tampered with is still to be read
        return f"'{event.verb}' by {event.actor}"
    if event.verb == "expire" and (late := _silence(event)):
        known = _SILENT
        return f"{known.format(actor=event.actor, attempt=event.attempt, late=late)}{_addition(event)}"
    return f"{known.format(actor=_who(event), attempt=event.attempt)}{_addition(event)}"


def _who(event: Event) -> str:
    """A token may have many workers: then it is the worker that people look for."""
    is_of_a_worker = event.worker is not None and event.worker.startswith(f"{event.actor}/")
    return event.worker if is_of_a_worker and event.worker is not None else event.actor


def _silence(event: Event) -> str:
    """The end that the lease would have had, if it was taken back before."""
    until = event.changes.get("last_lease_expires_at")
    return clock(to_moment(until)) if until is not None and event.at < to_moment(until) else ""


def _addition(event: Event) -> str:
    said, changes = event.payload or {}, event.changes
    if event.verb == "enqueue":
        return f" as {said['kind']} in queue {said['queue']}" if "kind" in said else ""
    if event.verb == "claim" and changes.get("lease_expires_at"):
        return f", lease until {clock(to_moment(changes['lease_expires_at']))}"
    if event.verb in ("retry", "expire", "time_out", "release") and changes.get("due_at"):
        due = to_moment(changes["due_at"])
        return f"; due again {'at once' if due <= event.at else f'at {clock(due)}'}"
    if said.get("compensation_job_id"):
        return f"; to be undone by job {said['compensation_job_id']}"
    if event.verb == "request_cancel" and changes.get("cancel_by"):
        return f", until {clock(to_moment(changes['cancel_by']))}"
    return f" after {span(said['execution_ms'] / 1_000)}" if said.get("execution_ms") is not None else ""


def _why(event: Event) -> str:
    said = event.payload or {}
    if event.verb == "renew" and "fraction" in said:
        return _progress(said)
    return event.cause or ""


def _notes(notes: Iterable[Note]) -> Iterator[Entry]:
    """Reports of one worker at one revision: nothing happened to the job between them."""
    for (_, _, kind), group in groupby(notes, key=lambda note: (note.rev, note.actor, note.kind)):
        those = list(group)
        if kind == "progress" and len(those) > 1:
            first, last = those[0], those[-1]
            what = f"{len(those)} reports of progress from {last.actor} in {between(first.at, last.at)}"
            yield Entry(last.at, last.rev, None, what, _progress(last.payload))
        else:
            yield from map(of_note, those)


def of_note(note: Note) -> Entry:
    said = note.payload
    match note.kind:
        case "progress":
            return Entry(note.at, note.rev, None, f"progress from {note.actor}", _progress(said))
        case "late_result":
            what = f"'{said['verb']}' from {note.actor}{_of_attempt(said)} came too late, and was refused"
            why = f"{_refusal(said['refused'])}{_kept(said)}"
            return Entry(note.at, note.rev, None, what, why, is_trouble=True)
        case "amendment":
            what = f"'{said['verb']}' from {note.actor}{_of_attempt(said)} came late, and is kept beside the result"
            return Entry(note.at, note.rev, None, what, _kept(said).removeprefix("; "))
        case "artifact":
            return Entry(note.at, note.rev, None, f"made '{said['name']}', says {note.actor}", _cut(said["pointer"]))
        case _:
            return Entry(note.at, note.rev, None, f"undone by job {note.actor}")


def _of_attempt(said: dict[str, Any]) -> str:
    return "" if said.get("attempt") is None else f" for attempt {said['attempt']}"


def _refusal(code: str) -> str:
    """Why it was too late; for a rare code what it means, without the advice, which was for the worker."""
    return _TOO_LATE.get(code) or f"{REFUSALS[code].partition(';')[0]} ({code})"


def _kept(said: dict[str, Any]) -> str:
    """What the worker had sent. `job notes --json` has all that was kept of it."""
    if error := said.get("error"):
        return f"; it said that it had failed: {_cut(described(Error(error['type'], error['message'])))}"
    if not said.get("result"):
        return ""
    if said["result"].startswith(b"\0"):
        return "; its result is sealed by a codec"
    whole = "" if said.get("is_whole", True) else ", the beginning of it"
    return f"; its result{whole}: {_cut(said['result'].decode('utf-8', 'replace'))}"


def _cut(text: str) -> str:
    return text if len(text) <= KEPT_CHARS_MAX else f"{text[:KEPT_CHARS_MAX]}…"


def _progress(said: dict[str, Any]) -> str:
    return f"{said['fraction']:.0%} {said.get('message', '')}".rstrip()
