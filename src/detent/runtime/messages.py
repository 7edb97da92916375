"""What a worker and its children say to each other over a pipe."""

from typing import Any

from msgspec import Struct

from detent import kernel
from detent.kernel.job import Progress
from detent.runtime.artifacts import Artifact
from detent.runtime.faults import Fault


class Task(Struct, frozen=True):
    """To a child: run this. Payload and checkpoint in the job are plain JSON, whatever the store keeps."""

    address: str
    wants_context: bool
    arguments: dict[str, Any]
    job: kernel.Job
    worker: str
    traceparent: str | None = None  # of the attempt's span, which the worker has


class Told(Struct, frozen=True):
    """To a child: its handler is to stop. `kind` is the name of the error that it meets."""

    kind: str
    message: str


class Answer(Struct, frozen=True):
    """To a child: what it asked for, or why that could not be."""

    number: int
    value: Any = None
    fault: Fault | None = None


class Ready(Struct, frozen=True):
    """From a child: it can be given a task."""


class Said(Struct, frozen=True):
    """From a child: what its handler told or saved, or that it completes the job itself."""

    progress: Progress | None = None
    checkpoint: tuple[Any] | None = None
    is_completing: bool = False


class Question(Struct, frozen=True):
    """From a child: flush, artifact or children; it waits for the answer."""

    number: int
    what: str
    artifact: Artifact | None = None


class Done(Struct, frozen=True):
    """From a child: what its handler returned, or raised."""

    value: Any = None
    fault: Fault | None = None
