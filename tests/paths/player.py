"""One failure path under way: the job that is made for it, what is done to it, and what became of it."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from detent import App, Artifact, Codec, Event, Job, Note, Policy, kernel
from detent.client import SyncClient
from detent.lifecycles import BUILT_IN
from detent.testing.trial.expecting import Expecting
from tests.paths.app import QUEUES, STEADY
from tests.paths.deeds import do
from tests.paths.path import PATIENT, Moves, Path
from tests.paths.table import job_id_of


class Outcome(Struct, frozen=True):
    """`moves` are the way it went, without renewals. `heirs` are the jobs that came of it."""

    record: kernel.Job
    moves: Moves
    events: list[Event]
    notes: list[Note]
    artifacts: list[Artifact]
    heirs: list["Outcome"]
    trouble: str = ""

    @property
    def job(self) -> Job:
        """Not kept as it is: no codec can be sent to another process."""
        return Job(self.record, Codec())


class Ways(Expecting):
    """What `detent.testing` says of the ways that jobs went, of those of the scene."""

    def __init__(self, url: str) -> None:
        self.app = App(url)

    def moves(self, job: Job) -> Moves:
        verbs, states = self.path(job, by="verb"), self.path(job)
        return tuple(f"{verb} {state}" for verb, state in zip(verbs, states, strict=True))


class Jobs:
    """All jobs of a store at a moment, read at once."""

    def __init__(self, client: SyncClient) -> None:
        self._by_id = {job.id: job for job in client.find(limit=1_000)}

    def __getitem__(self, job_id: str) -> Job:
        return self._by_id[job_id]

    def heirs(self, job_id: str) -> list[Job]:
        return [job for job in self._by_id.values() if job.parent_job_id == job_id]


class Player:
    def __init__(self, client: SyncClient, url: str, lifecycle: str, path: Path) -> None:
        self._client = client
        self._url = url
        self._deeds = list(path.deeds)
        self._trouble = ""
        self.path = path
        self.lifecycle = lifecycle
        self.job_id = job_id_of(lifecycle, path)

    @property
    def item(self) -> dict[str, Any]:
        path = self.path
        item = {
            "kind": path.kind, "lifecycle": self.lifecycle, "queue": QUEUES.get(path.kind, STEADY),
            "job_id": self.job_id, "payload": path.payload or {"acts": list(path.acts)},
            "policy": self._policy(), "submit": path.is_submitted,
        }  # fmt: skip
        return item if path.topic is None else item | {"topic": path.topic}

    @property
    def is_pressing(self) -> bool:
        """Whether what is to be done next has to be done while a short lease lasts, or a run limit."""
        return bool(self._deeds) and (self._deeds[0].by == "elsewhere" or "timeout_s" in self.path.policy)

    def is_ready(self, jobs: Jobs) -> bool:
        """Whether the job is where the next thing is to be done to it."""
        return bool(self._deeds) and jobs[self.job_id].state == self._deeds[0].when

    def go_on(self, jobs: Jobs) -> None:
        """Do what is to be done next. Others go on, whatever comes of it."""
        try:
            do(self._deeds.pop(0), jobs[self.job_id], self._client, self._url)
        except Exception as error:
            self._trouble = repr(error)

    def is_over(self, jobs: Jobs) -> bool:
        """Nothing is left that could still happen to it, or to the job that came of it."""
        if self._deeds or self.path.rests:
            return not self._deeds
        heirs = jobs.heirs(self.job_id)
        is_ended = jobs[self.job_id].is_ended and all(heir.is_ended for heir in heirs)
        return is_ended and bool(heirs) == bool(self.path.heir) and self._has_notes()

    def outcome(self, jobs: Jobs, ways: Ways) -> Outcome:
        return self._outcome(jobs, ways, jobs[self.job_id], self._trouble)

    def _outcome(self, jobs: Jobs, ways: Ways, job: Job, trouble: str = "") -> Outcome:
        told, heirs = self._client, [self._outcome(jobs, ways, heir) for heir in jobs.heirs(job.id)]
        said = told.history(job.id), told.notes(job.id), told.artifacts(job.id)
        return Outcome(job.record, ways.moves(job), *said, heirs, trouble)

    def _policy(self) -> Policy:
        return BUILT_IN[self.lifecycle].policy(**PATIENT.get(self.lifecycle, {}) | self.path.policy)

    def _has_notes(self) -> bool:
        return not self.path.notes or len(self._client.notes(self.job_id)) >= len(self.path.notes)


def all_active(players: Iterable[Player], jobs: Jobs) -> bool:
    return all(jobs[player.job_id].phase == "active" for player in players)
