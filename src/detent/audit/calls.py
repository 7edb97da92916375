"""What callers recorded: each call, when it began and ended, and what it was told. With it a history shows more."""

from typing import Literal

from msgspec import Struct

from detent.audit.requests import Doubled
from detent.kernel.event import Event
from detent.kernel.job import Job

Key = tuple[str, str]  # tenant, job id


class Answer(Struct, frozen=True):
    """A job as an answer named it."""

    job_id: str
    rev: int


class Call(Struct, frozen=True, kw_only=True):
    """One call of one caller. Reads count too: give them the verb "get".

    `began` and `ended` are moments or order numbers of one clock; `ended` is None if no answer came.
    `digest` is the content, without revision and request id. `is_duplicate`: a dedupe key's live job was the answer.
    """

    verb: str
    outcome: Literal["ok", "refused", "unknown"]
    began: int
    ended: int | None = None
    tenant: str = "default"
    job_id: str | None = None
    request_id: str | None = None
    digest: str = ""
    expected_rev: int | None = None
    worker: str | None = None
    attempt: int | None = None
    answers: tuple[Answer, ...] = ()
    payload_digest: str | None = None
    mode: Literal["soft", "hard"] | None = None
    is_duplicate: bool = False

    @property
    def is_ok(self) -> bool:
        return self.outcome == "ok"

    @property
    def creates(self) -> bool:
        return self.verb in ("enqueue", "rerun")


class Fact(Struct):
    """What is kept of one job to hold the calls against: its record, and a few words of its log."""

    job: Job
    born_of: str | None = None  # the request id of its first event
    is_rerun: bool = False
    claimed_by: dict[str, int] = {}  # request id → revision of the claim
    stops: list[tuple[str, int]] = []  # cancel requests and cancels, with their revisions

    def event(self, event: Event) -> None:
        if event.rev == 1:
            self.born_of = event.request_id
            self.is_rerun = event.changes.get("rerun_of") is not None
        if event.verb == "claim" and event.request_id is not None:
            self.claimed_by[event.request_id] = event.rev
        if event.verb in ("request_cancel", "cancel"):
            self.stops.append((event.verb, event.rev))


class Ledger(Struct):
    """The calls and the jobs they speak of. `drained_at`: when everything was given time to end, if it was."""

    calls: list[Call] = []
    facts: dict[Key, Fact] = {}
    doubled: list[Doubled] = []
    drained_at: int | None = None

    def open(self, job: Job) -> Fact:
        return self.facts.setdefault((job.spec.tenant, job.id), Fact(job))

    def fact(self, call: Call, job_id: str) -> Fact | None:
        return self.facts.get((call.tenant, job_id))
