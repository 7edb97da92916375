"""What handlers have made, as a program sees it: registered under a name, kept elsewhere."""

from datetime import datetime

from msgspec import Struct

from detent.client.moments import to_moment
from detent.kernel import Note
from detent.kernel.artifacts import ArtifactStatus, standing, status_of
from detent.store import Story


class Artifact(Struct, frozen=True):
    """Something that a handler has made and registered. `pointer` says where it is kept; nobody here looks there.

    `status`: "partial" until its job has ended; then "final" if that attempt succeeded, "discarded" if the job was
    cancelled hard, and "partial" still if it ended otherwise, or if it is of an earlier attempt.
    """

    job_id: str
    name: str
    pointer: str
    size: int | None
    digest: str | None
    status: ArtifactStatus
    attempt: int
    worker: str | None
    at: datetime


def artifacts_of(story: Story) -> list[Artifact]:
    """In the order in which they were registered, each name of an attempt once."""
    last = story.events[-1] if story.events else None
    notes = standing([note for note in story.notes if note.kind == "artifact"])
    return [_seen(note, status_of(note, story.job, last)) for note in notes]


def _seen(note: Note, status: ArtifactStatus) -> Artifact:
    said = note.payload
    return Artifact(
        note.job_id, said["name"], said["pointer"], said["size"], said["digest"], status, said["attempt"],
        said["worker"], to_moment(note.at),
    )  # fmt: skip
