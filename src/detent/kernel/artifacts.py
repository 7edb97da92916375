"""What has become of the things a handler made: read off the record of their job and how it ended."""

from typing import Final, Literal

from detent.kernel.command import RegisterArtifact
from detent.kernel.event import Event, Note
from detent.kernel.job import Job

ArtifactStatus = Literal["partial", "final", "discarded"]
ARTIFACTS_MAX: Final = 500  # of one job, all its attempts together
_SAID: Final = ("name", "pointer", "size", "digest")


def status_of(note: Note, job: Job, last: Event | None) -> ArtifactStatus:
    """Final are those of the attempt that succeeded: an earlier one may have left something half made.

    `last` is the last event of the job, if it is known. A hard cancel discards what all attempts have made.
    """
    if job.outcome == "success":
        return "final" if note.payload["attempt"] == job.attempt else "partial"
    return "discarded" if last is not None and is_hard_cancel(last) else "partial"


def is_hard_cancel(event: Event) -> bool:
    return event.verb == "cancel" and (event.payload or {}).get("mode") == "hard"


def standing(notes: list[Note]) -> list[Note]:
    """Of one name and one attempt, what was said last stands, in the place of the first."""
    latest: dict[tuple[int, str], Note] = {}
    for note in notes:
        latest[note.payload["attempt"], note.payload["name"]] = note
    return list(latest.values())


def is_registered(command: RegisterArtifact, job: Job, notes: list[Note]) -> bool:
    """Whether this very thing is what the attempt has said of it last: then it is said again."""
    own = [note for note in notes if note.payload["attempt"] == job.attempt and note.payload["name"] == command.name]
    return bool(own) and all(own[-1].payload[name] == getattr(command, name) for name in _SAID)
