"""Replaying a log: from a job's events, in the order of rev, to the columns its record must show (ALL-15)."""

from collections.abc import Iterable
from typing import Any, Final

from detent.kernel.event import Event
from detent.kernel.job import FOLDED, Job

_COUNTERS: Final = ("attempt", "failures", "crashes", "interruptions", "retries")
# Before its first event a job has nothing: no state, no revision, every counter at zero.
_NOTHING: Final[dict[str, Any]] = dict.fromkeys(FOLDED) | dict.fromkeys(_COUNTERS, 0) | {"rev": 0, "payload_digest": ""}


def fold(events: Iterable[Event], *, until: int | None = None) -> dict[str, Any]:
    """The lifecycle columns after these events, or after those of them that happened up to a moment."""
    columns = dict(_NOTHING)
    for event in events:
        if until is not None and event.at > until:
            break
        fold_one(columns, event)
    return columns


def fold_one(columns: dict[str, Any], event: Event) -> None:
    columns.update(event.changes)
    columns["rev"] = event.rev
    columns["state"] = event.to_state
    columns["updated_at"] = event.at


def differences(columns: dict[str, Any], job: Job) -> dict[str, tuple[Any, Any]]:
    """Where the log and the record disagree: column → (what the log says, what the record shows)."""
    shown = {name: getattr(job, name) for name in FOLDED}
    return {name: (columns[name], shown[name]) for name in FOLDED if columns[name] != shown[name]}
