"""What is asked and answered about jobs."""

from datetime import datetime

from msgspec import Struct

from detent.client import Artifact
from detent.client.explaining import Budget
from detent.client.reasons import Reason
from detent.client.ways import Way
from detent.lifecycle.words import Outcome, Phase
from detent.wire.http.events import EventShape, NoteShape
from detent.wire.http.jobs import JobShape


class JobsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs, newest first; what is not given does not matter. `cursor` is that of the page before."""

    state: str | None = None
    phase: Phase | None = None
    outcome: Outcome | None = None
    queue: str | None = None
    kind: str | None = None
    lifecycle: str | None = None
    owner: str | None = None
    correlation_id: str | None = None
    parent_job_id: str | None = None
    workflow_id: str | None = None
    dedupe_key: str | None = None
    limit_key: str | None = None
    topic: str | None = None
    created_from: datetime | None = None
    created_until: datetime | None = None
    ended_from: datetime | None = None
    ended_until: datetime | None = None


class JobsPageQuery(JobsQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs, newest first; what is not given does not matter. `cursor` is that of the page before."""

    limit: int = 100
    cursor: str | None = None


class CountsQuery(JobsQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs, and by what they are counted: any of lifecycle, state, phase, outcome, queue and kind."""

    by: list[str] = []


class JobPage(Struct, frozen=True, kw_only=True):
    """Some of the jobs. `cursor` goes on from here; null: these were the last."""

    jobs: list[JobShape]
    cursor: str | None


class CountShape(Struct, frozen=True, kw_only=True):
    """How many jobs there are of these values, which are in the order of `by`."""

    values: list[str | None]
    jobs: int


class CountsShape(Struct, frozen=True, kw_only=True):
    by: list[str]
    counts: list[CountShape]


class LookupBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    job_ids: list[str]


class LookupShape(Struct, frozen=True, kw_only=True):
    """The jobs in the order of their ids; null where there is none, or none that the asker may look at.

    Fewer than ids, if they are so large that an answer holds no more: ask for the rest again.
    """

    jobs: list[JobShape | None]


class WaitQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`wait_s`: how long to wait for the end of the job, if it has not ended yet."""

    wait_s: float = 0.0


class ArtifactsShape(Struct, frozen=True, kw_only=True):
    artifacts: list[Artifact]


class BranchShape(Struct, frozen=True, kw_only=True):
    """A job of a tree. Children follow their parent, one deeper; the first of all has depth 0."""

    depth: int
    job: JobShape


class TreeShape(Struct, frozen=True, kw_only=True):
    jobs: list[BranchShape]


class JobsShape(Struct, frozen=True, kw_only=True):
    jobs: list[JobShape]


class ExplanationShape(Struct, frozen=True, kw_only=True):
    """The first reason is the one that matters most. `ways` are the verbs that its state has, and when time asks."""

    job: JobShape
    at: datetime
    reasons: list[Reason]
    ways: list[Way]
    budget: Budget
    reruns: list[str]


class EventsShape(Struct, frozen=True, kw_only=True):
    events: list[EventShape]


class NotesShape(Struct, frozen=True, kw_only=True):
    notes: list[NoteShape]
