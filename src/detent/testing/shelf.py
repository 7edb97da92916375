"""What a `MemoryStore` holds, as dicts, and the two things done with it: telling the planning, and writing its plan."""

from typing import Any

from msgspec.structs import replace

from detent.errors import NotFound
from detent.kernel import Change, Event, Job, Note
from detent.kernel.clock import micros
from detent.lifecycle import Lifecycle
from detent.store.fleet import Schedule, WorkerReport
from detent.store.keeping import VERBOSE_NOTES, VERBOSE_VERBS, Keeping
from detent.store.limits import KeyUse, LimitKey, Rate
from detent.store.planning import Plan
from detent.store.query import Story
from detent.store.request import Kept, Key, Scope
from detent.store.tokens import TOKEN_KEPT_S, Token


class Shelf:
    """The facts for `plan`, at one moment after the other. Jobs stand in the order in which they were made."""

    def __init__(self, keeping: Keeping) -> None:
        self.now = 0
        self.keeping = keeping
        self.lifecycles: dict[tuple[str, int], Lifecycle] = {}
        self.jobs: dict[Key, Job] = {}
        self.numbers: dict[Key, int] = {}
        self.log: dict[int, Event] = {}  # by place, in the order of commit
        self.places: dict[Key, list[int]] = {}
        self.details: dict[int, tuple[dict[str, Any], int]] = {}  # by place: what a heartbeat carried, and until when
        self.notes: dict[Key, list[tuple[Note, int | None]]] = {}  # each with the moment from which it is not kept
        self.receipts: dict[Scope, tuple[Kept, int]] = {}
        self.depths_max: dict[tuple[str, str], int | None] = {}
        self.pauses: dict[tuple[str, str], tuple[int, str, str | None]] = {}  # since when, by whom and why
        self.workers: dict[tuple[str, str], WorkerReport] = {}
        self.schedules: dict[tuple[str, str], Schedule] = {}
        self.tokens: dict[str, Token] = {}
        self.paces: dict[tuple[str, str], int] = {}  # by tenant and rule: from when on its next job may be due
        self.rates: dict[LimitKey, Rate] = {}
        self.end = 0  # the last place that was given out
        self.last_number = 0

    def job(self, tenant: str, job_id: str) -> Job | None:
        return self.jobs.get((tenant, job_id))

    def live(self, tenant: str, kind: str, dedupe_key: str) -> Job | None:
        for job in self.jobs.values():
            spec = job.spec
            if (spec.tenant, spec.kind, spec.dedupe_key) == (tenant, kind, dedupe_key) and not job.is_ended:
                return job
        return None

    def kept(self, scope: Scope) -> Kept | None:
        kept, expires_at = self.receipts.get(scope, (None, 0))
        return kept if self.now < expires_at else None

    def room(self, tenant: str, queue: str) -> int | None:
        depth_max = self.depths_max.get((tenant, queue))
        waiting = (job for job in self.jobs.values() if job.claim_at is not None)
        return None if depth_max is None else depth_max - sum(_place(job) == (tenant, queue) for job in waiting)

    def noted(self, tenant: str, job_id: str, kind: str) -> list[Note]:
        return [note for note, _ in self.notes[tenant, job_id] if note.kind == kind]

    def use(self, tenant: str, limit_key: str) -> KeyUse:
        own = [job for job in self.jobs.values() if (job.spec.tenant, job.spec.limit_key) == (tenant, limit_key)]
        limits = [job.spec.policy.limit for job in own if job.is_leased]
        allowed = [each.concurrency_max for each in limits if each is not None and each.concurrency_max is not None]
        return KeyUse(len(limits), min(allowed, default=None), self.rates.get((tenant, limit_key), Rate()))

    def has_tick(self, tenant: str, name: str, expected: int, next_at: int) -> bool:
        """Compare and set: whether the tick is the caller's. The ticks of a paused schedule are nobody's."""
        schedule = self.schedules.get((tenant, name))
        if schedule is None or schedule.next_at != expected:
            return False
        is_paused = schedule.paused_at is not None
        last_at = schedule.last_at if is_paused else expected
        self.schedules[tenant, name] = replace(schedule, next_at=next_at, last_at=last_at)
        return not is_paused

    def lifecycle(self, name: str, version: int) -> Lifecycle:
        known = self.lifecycles.get((name, version))
        if known is None:
            raise NotFound(f"the store keeps no lifecycle '{name} v{version}'; register it first")
        return known

    def write(self, plan: Plan) -> None:
        for change, job in plan.changes:
            self._apply(change, job)
        for note in plan.notes:
            self._note(note)
        for kept in plan.kept:
            self.receipts[kept.scope] = kept, self._until(self.keeping.receipts_s)
        for each in plan.rates:
            self.rates[each.tenant, each.limit_key] = each.rate

    def story(self, key: Key) -> Story:
        events = [self.event(place) for place in self.places[key]]
        return Story(self.jobs[key], events, [note for note, _ in self.notes[key]])

    def event(self, place: int) -> Event:
        event = self.log[place]
        return replace(event, payload=self.details[place][0]) if place in self.details else event

    def remove(self, key: Key) -> int:
        """A job with all that was kept of it. Returns how many events that were."""
        for kept in (self.jobs, self.numbers, self.notes):
            del kept[key]
        places = self.places.pop(key)
        for place in places:
            del self.log[place]
            self.details.pop(place, None)
        for scope in [scope for scope in self.receipts if (scope.tenant, scope.job_id) == key]:
            del self.receipts[scope]
        return len(places)

    def expire(self, limit: int) -> tuple[int, int]:
        """Drop what was kept for a while only, at most so many of each. Returns how many details and receipts."""
        details = [place for place, (_, until) in self.details.items() if until <= self.now][:limit]
        receipts = [scope for scope, (_, until) in self.receipts.items() if until <= self.now][:limit]
        for place in details:
            del self.details[place]
        for scope in receipts:
            del self.receipts[scope]
        for limited in [key for key, rate in self.rates.items() if rate.expires_at <= self.now]:
            del self.rates[limited]
        before = self.now - micros(TOKEN_KEPT_S)
        self.tokens = {each.id: each for each in self.tokens.values() if not each.is_over(before)}
        for key, notes in self.notes.items():
            self.notes[key] = [kept for kept in notes if kept[1] is None or self.now < kept[1]]
        return len(details), len(receipts)

    def _apply(self, change: Change, job: Job) -> None:
        key = job.spec.tenant, job.spec.id
        if change.before.rev == 0:
            self.last_number += 1
            self.numbers[key], self.places[key], self.notes[key] = self.last_number, [], []
        self.jobs[key] = job
        for event in change.events:
            self._append(key, event)
        for spawned in change.spawned:
            self._apply(spawned, spawned.job)

    def _append(self, key: Key, event: Event) -> None:
        self.end += 1
        if event.payload is not None and event.verb in VERBOSE_VERBS:
            self.details[self.end] = event.payload, self._until(self.keeping.verbose_s)
            event = replace(event, payload=None)
        self.log[self.end] = event
        self.places[key].append(self.end)

    def _note(self, note: Note) -> None:
        notes = self.notes[note.tenant, note.job_id]
        if sum(other.kind == note.kind for other, _ in notes) < self.keeping.most(note.kind):
            notes.append((note, self._until(self.keeping.verbose_s) if note.kind in VERBOSE_NOTES else None))

    def _until(self, kept_s: float) -> int:
        return self.now + micros(kept_s)


def _place(job: Job) -> tuple[str, str]:
    return job.spec.tenant, job.spec.queue
