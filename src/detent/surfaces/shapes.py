"""What is said of jobs to programs: the JSON of the command line. A shape is a struct; the reference has its fields."""

from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from detent.client import Event, Job, Note
from detent.client.tree import Tree
from detent.client.views import View
from detent.errors import InvalidArgument
from detent.wire.fields import JobFields
from detent.wire.http import events as http
from detent.wire.http.events import EventShape

VALUES: Final = ("payload", "result", "checkpoint")


class JobShape(JobFields, frozen=True, kw_only=True):
    """A job as it is. What a codec of your own sealed is null, and named in `unreadable`."""

    unreadable: list[str]


class AnsweredShape(JobShape, frozen=True, kw_only=True):
    """A job that a command made or moved. `answer`: `applied`; `repeat` of a request that was carried out before;
    `duplicate`, the live job of the dedupe key; `unchanged`, it was so already."""

    answer: str


class NoteShape(Struct, frozen=True, kw_only=True):
    """Something said of a job without moving it: a late result, an amendment, a compensation, progress, an artifact."""

    job_id: str
    rev: int
    kind: str
    type: str
    at: datetime
    actor: str
    payload: dict[str, Any]
    tenant: str


class BranchShape(Struct, frozen=True, kw_only=True):
    """A job of a tree. Children follow their parent, one deeper; the first of all has depth 0."""

    depth: int
    job: JobShape


def job_shape(job: Job) -> JobShape:
    unreadable: list[str] = []
    values = {name: _value(job, name, unreadable) for name in VALUES}
    others = _fields(job, JobShape, leave_out=(*VALUES, "unreadable"))
    return JobShape(**others, **values, unreadable=unreadable)


def answered_shape(job: Job) -> AnsweredShape:
    return AnsweredShape(**structs.asdict(job_shape(job)), answer=job.answer)


def event_shape(event: Event) -> EventShape:
    return http.event_shape(event.record, event.cursor)


def note_shape(note: Note) -> NoteShape:
    said = {name: _kept(value) for name, value in note.payload.items()}
    return NoteShape(**_fields(note, NoteShape, leave_out=("payload",)), payload=said)


def tree_shape(tree: Tree) -> list[BranchShape]:
    return [BranchShape(depth=depth, job=job_shape(job)) for depth, job in tree.walk()]


def _fields(view: View, shape: type[Struct], leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    return {name: getattr(view, name) for name in shape.__struct_fields__ if name not in leave_out}


def _value(job: Job, name: str, unreadable: list[str]) -> Any:
    try:
        return getattr(job, name)
    except InvalidArgument as error:
        if error.code != "value_unreadable":
            raise
        unreadable.append(name)
        return None


def _kept(value: Any) -> Any:
    """A note keeps what a late worker sent as bytes. Not all of them, or sealed ones, are no JSON, and become text."""
    if not isinstance(value, bytes):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return value.decode("utf-8", "replace")
