"""What the service answers, as a client of it reads it: values stay the bytes that came. What is new is passed over."""

from datetime import datetime

from msgspec import Raw, Struct

from detent.wire.http.events import EventShape, NoteShape
from detent.wire.http.jobs import JobRecord
from detent.wire.http.problems import Problem
from detent.wire.http.schedules import ScheduleRecord


class Session(Struct, frozen=True, kw_only=True):
    """Who the service takes us for."""

    name: str
    tenant: str
    scopes: list[str]
    worker: str | None
    is_any_tenant: bool
    version: str
    is_tended: bool = True


class JobsAnswer(Struct, frozen=True, kw_only=True):
    jobs: list[JobRecord | None]


class ClaimedAnswer(Struct, frozen=True, kw_only=True):
    jobs: list[JobRecord]


class JobsPage(Struct, frozen=True, kw_only=True):
    jobs: list[JobRecord]
    cursor: str | None


class OneAnswer(Struct, frozen=True, kw_only=True):
    """To one request of several."""

    job: JobRecord | None = None
    problem: Problem | None = None


class BatchAnswers(Struct, frozen=True, kw_only=True):
    answers: list[OneAnswer]


class Advanced(Struct, frozen=True, kw_only=True):
    is_ours: bool
    answers: list[OneAnswer] = []


class CountAnswer(Struct, frozen=True, kw_only=True):
    values: list[str | None]
    jobs: int


class CountsAnswer(Struct, frozen=True, kw_only=True):
    counts: list[CountAnswer]


class EventsAnswer(Struct, frozen=True, kw_only=True):
    events: list[EventShape]
    cursor: str | None


class EndAnswer(Struct, frozen=True, kw_only=True):
    cursor: str


class NewsAnswer(Struct, frozen=True, kw_only=True):
    mark: str


class StoryAnswer(Struct, frozen=True, kw_only=True):
    job: JobRecord
    events: list[EventShape]
    notes: list[NoteShape]


class StoriesAnswer(Struct, frozen=True, kw_only=True):
    stories: list[StoryAnswer]
    cursor: str | None


class ComplaintsAnswer(Struct, frozen=True, kw_only=True):
    complaints: list[str]


class DefinitionAnswer(Struct, frozen=True, kw_only=True):
    """Only a definition that is wanted is made a lifecycle of: that checks it whole."""

    name: str
    version: int
    digest: str
    definition: Raw


class DefinitionsAnswer(Struct, frozen=True, kw_only=True):
    lifecycles: list[DefinitionAnswer]


class SchedulesAnswer(Struct, frozen=True, kw_only=True):
    schedules: list[ScheduleRecord]


class LaneAnswer(Struct, frozen=True, kw_only=True):
    isolation: str
    kinds: tuple[str, ...]
    slots: int
    running: int


class WorkerAnswer(Struct, frozen=True, kw_only=True):
    name: str
    host: str
    pid: int
    queues: tuple[str, ...]
    kinds: tuple[str, ...] | None
    adapters: tuple[str, ...] | None
    slots: int
    running: int
    version: str
    is_draining: bool
    lanes: tuple[LaneAnswer, ...]
    started_at: datetime
    seen_at: datetime


class WorkersAnswer(Struct, frozen=True, kw_only=True):
    workers: list[WorkerAnswer]
