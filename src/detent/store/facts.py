"""What deciding a request needs to know, and a working copy of it in which a batch sees its own earlier effects."""

from typing import Final, Protocol

from detent.kernel import Change, Job, Note
from detent.lifecycle import Lifecycle
from detent.store.limits import KeyUse, KeyUses
from detent.store.query import NUMBER_MAX
from detent.store.request import Kept, Key, Scope

# How far beyond its limit a queue is counted: a batch may take out as many jobs before it puts one in.
LEAVING_MAX: Final = 10_000


class Facts(Protocol):
    """The store as it is, inside the transaction that is about to write. Each is asked for at most once."""

    def job(self, tenant: str, job_id: str) -> Job | None: ...

    def live(self, tenant: str, kind: str, dedupe_key: str) -> Job | None:
        """The job not ended that has the dedupe key."""

    def kept(self, scope: Scope) -> Kept | None:
        """What is remembered of a request, unless it is too old to be kept."""

    def room(self, tenant: str, queue: str) -> int | None:
        """How many more jobs the queue may hold waiting; None: any number."""

    def noted(self, tenant: str, job_id: str, kind: str) -> list[Note]:
        """The notes of one kind on a job that was asked for, in their order."""

    def use(self, tenant: str, limit_key: str) -> KeyUse | None:
        """How far a limit key is used. Until the transaction ends nobody else takes of it; None: somebody else does."""

    def lifecycle(self, name: str, version: int) -> Lifecycle:
        """`NotFound` if the store does not keep it."""


def counted_to(depth_max: int) -> int:
    """How many waiting jobs of a limited queue are counted at most."""
    return min(depth_max + LEAVING_MAX, NUMBER_MAX)


class WorkingCopy:
    """Facts with the effects of the plan so far on top: what the next request of a batch is decided on."""

    def __init__(self, facts: Facts) -> None:
        self.lifecycle = facts.lifecycle
        self.limits = KeyUses(facts)
        self._facts = facts
        self._jobs: dict[Key, Job] = {}
        self._live: dict[tuple[str, str, str], Job | None] = {}
        self._kept: dict[Scope, Kept] = {}
        self._room: dict[tuple[str, str], int | None] = {}
        self._notes: list[Note] = []
        self._waiting: dict[tuple[str, str], int] = {}  # how many more wait in a queue than the facts say

    def job(self, tenant: str, job_id: str) -> Job | None:
        return self._jobs.get((tenant, job_id)) or self._facts.job(tenant, job_id)

    def live(self, tenant: str, kind: str, dedupe_key: str) -> Job | None:
        key = tenant, kind, dedupe_key
        if key in self._live:
            return self._live[key]
        job = self._facts.live(*key)
        return None if job is None else self._jobs.get((tenant, job.id), job)

    def kept(self, scope: Scope) -> Kept | None:
        return self._kept.get(scope) or self._facts.kept(scope)

    def noted(self, tenant: str, job_id: str, kind: str) -> list[Note]:
        asked = tenant, job_id, kind
        new = [note for note in self._notes if (note.tenant, note.job_id, note.kind) == asked]
        return self._facts.noted(*asked) + new

    def room(self, tenant: str, queue: str) -> int | None:
        key = tenant, queue
        if key not in self._room:
            self._room[key] = self._facts.room(tenant, queue)
        room = self._room[key]
        return None if room is None else room - self._waiting.get(key, 0)

    def apply(self, change: Change) -> Job:
        """The job after the change, from now on what there is."""
        job = change.job
        spec = job.spec
        self._jobs[spec.tenant, spec.id] = job
        if spec.dedupe_key is not None:
            self._live[spec.tenant, spec.kind, spec.dedupe_key] = None if job.is_ended else job
        waited = change.before.rev > 0 and change.before.claim_at is not None
        if waited != (job.claim_at is not None):
            key = spec.tenant, spec.queue
            self._waiting[key] = self._waiting.get(key, 0) + (-1 if waited else 1)
        if spec.limit_key is not None and change.before.is_leased and not job.is_leased:
            self.limits.left(job)
        for spawned in change.spawned:
            self.apply(spawned)
        if change.notes:
            self._notes += change.notes
        return job

    def remember(self, kept: Kept) -> None:
        self._kept[kept.scope] = kept
