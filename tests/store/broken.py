"""Stores with one mistake each, such as a store can make: what the contract has to notice."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from detent.kernel import Change, Event, Job, Note
from detent.lifecycle import Lifecycle
from detent.store import (
    ClaimRequest,
    Entry,
    EventQuery,
    JobQuery,
    Kept,
    Page,
    Plan,
    Pruned,
    Replies,
    Request,
    Retention,
    Scope,
    plan,
    plan_claim,
)
from detent.store.clock import host_clock
from detent.store.request import Key
from detent.testing import MemoryStore, asking
from detent.testing.shelf import Shelf


class OnShelf(MemoryStore):
    """The store is right, and what holds its jobs is not."""

    made: type[Shelf]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.shelf = self.made(self.shelf.keeping)


class LosesEvents(OnShelf):
    class made(Shelf):  # noqa: N801
        def _append(self, key: Key, event: Event) -> None:
            if event.verb != "renew":
                super()._append(key, event)


class LosesRecords(OnShelf):
    class made(Shelf):  # noqa: N801
        def _apply(self, change: Change, job: Job) -> None:
            super()._apply(change, replace(job, checkpoint=None))


class ForgetsRequests(OnShelf):
    class made(Shelf):  # noqa: N801
        def kept(self, scope: Scope) -> Kept | None:
            return None


class ForgetsClaims(OnShelf):
    class made(Shelf):  # noqa: N801
        def kept(self, scope: Scope) -> Kept | None:
            return None if scope.verb == "claim" else super().kept(scope)


class NeverForgetsRequests(OnShelf):
    class made(Shelf):  # noqa: N801
        def kept(self, scope: Scope) -> Kept | None:
            return self.receipts[scope][0] if scope in self.receipts else None


class SharesRequestsAmongTenants(OnShelf):
    class made(Shelf):  # noqa: N801
        def kept(self, scope: Scope) -> Kept | None:
            return next((kept for other, (kept, _) in self.receipts.items() if other[1:] == scope[1:]), None)


class IgnoresTheLease(OnShelf):
    class made(Shelf):  # noqa: N801
        def job(self, tenant: str, job_id: str) -> Job | None:
            job = super().job(tenant, job_id)
            return replace(job, lease_expires_at=self.now + 1) if job is not None and job.is_leased else job


class KeepsDedupeKeys(OnShelf):
    class made(Shelf):  # noqa: N801
        def live(self, tenant: str, kind: str, dedupe_key: str) -> Job | None:
            key = (tenant, kind, dedupe_key)
            jobs = self.jobs.values()
            return next((job for job in jobs if (job.spec.tenant, job.spec.kind, job.spec.dedupe_key) == key), None)


class HasNoDedupeKeys(OnShelf):
    class made(Shelf):  # noqa: N801
        def live(self, tenant: str, kind: str, dedupe_key: str) -> Job | None:
            return None


class ForgetsWhatAChangeSpawned(OnShelf):
    class made(Shelf):  # noqa: N801
        def _apply(self, change: Change, job: Job) -> None:
            super()._apply(replace(change, spawned=()), job)


class KeepsEveryNote(OnShelf):
    class made(Shelf):  # noqa: N801
        def _note(self, note: Note) -> None:
            self.notes[note.tenant, note.job_id].append((note, None))


class ForgetsWhatWasNoted(OnShelf):
    class made(Shelf):  # noqa: N801
        def noted(self, tenant: str, job_id: str, kind: str) -> list[Note]:
            return []


class NotesOnTheJobThatSpeaks(OnShelf):
    class made(Shelf):  # noqa: N801
        def write(self, plan: Plan) -> None:
            speaker = plan.changes[0][1].id if plan.changes else ""
            plan.notes = [replace(note, job_id=speaker) if note.kind == "compensated" else note for note in plan.notes]
            super().write(plan)


class DropsArtifactsWithProgress(OnShelf):
    class made(Shelf):  # noqa: N801
        def expire(self, limit: int) -> tuple[int, int]:
            for key, notes in self.notes.items():
                self.notes[key] = [kept for kept in notes if kept[0].kind != "artifact"]
            return super().expire(limit)


class CountsNotesOfAllKindsTogether(OnShelf):
    class made(Shelf):  # noqa: N801
        def _note(self, note: Note) -> None:
            if len(self.notes[note.tenant, note.job_id]) < self.keeping.notes_max:
                super()._note(note)


class LosesWhatACancelWasLike(OnShelf):
    class made(Shelf):  # noqa: N801
        def _append(self, key: Key, event: Event) -> None:
            super()._append(key, replace(event, payload=None) if event.verb == "cancel" else event)


class IgnoresTheTenant(MemoryStore):
    async def get(self, tenant: str, job_ids: Sequence[str]) -> list[Job | None]:
        jobs = self.shelf.jobs.values()
        return [next((job for job in jobs if job.id == job_id), None) for job_id in job_ids]


class LosesTheRace(MemoryStore):
    """Between what it read and what it writes there is time for others, and nothing is compared."""

    async def apply(self, requests: Sequence[Request], tx: Any = None) -> Replies:
        return await self._slowly(lambda shelf: plan(requests, shelf, shelf.now, self._random))

    async def _slowly(self, planned: Callable[[Shelf], Plan]) -> Replies:
        self.shelf.now = self._clock()
        made = planned(self.shelf)
        await asyncio.sleep(0)
        self.shelf.write(made)
        return made.replies


class ClaimsTwice(LosesTheRace):
    async def apply(self, requests: Sequence[Request], tx: Any = None) -> Replies:
        return await MemoryStore.apply(self, requests, tx)

    async def claim(self, request: ClaimRequest, tx: Any = None) -> Replies:
        due = asking.claimable(self.shelf, request)
        return await self._slowly(lambda shelf: plan_claim(request, due, shelf, shelf.now))


class DecidesABatchAtOnce(MemoryStore):
    """Each request of a batch on the store as it was before all of them."""

    async def apply(self, requests: Sequence[Request], tx: Any = None) -> Replies:
        self.shelf.now = self._clock()
        plans = [plan([request], self.shelf, self.shelf.now, self._random) for request in requests]
        for made in plans:
            self.shelf.write(made)
        return [reply for made in plans for reply in made.replies]


class ClaimsInTheOrderOfMaking(MemoryStore):
    async def claim(self, request: ClaimRequest, tx: Any = None) -> Replies:
        def planned(shelf: Shelf) -> Plan:
            due = sorted(asking.claimable(shelf, request), key=lambda job: job.created_at)
            return plan_claim(request, due, shelf, shelf.now)

        return self._write(planned)


class SkipsAnEvent(MemoryStore):
    """A reader that has reached the end is sent on to behind the next event."""

    async def events(self, query: EventQuery, limit: int, cursor: str | None = None) -> Page[Entry]:
        page = await super().events(query, limit, cursor)
        return page if page.items else Page([], str(self.shelf.end + 1))


class DoublesAJobBetweenPages(MemoryStore):
    async def find(self, query: JobQuery, limit: int, cursor: str | None = None) -> Page[Job]:
        page = await super().find(query, limit, cursor)
        return page if page.cursor is None else Page(page.items, str(int(page.cursor) + 1))


class PrunesLiveJobs(MemoryStore):
    async def prune(self, tenant: str, retention: Retention, limit: int) -> Pruned:
        for key in [key for key, job in self.shelf.jobs.items() if not job.is_ended]:
            self.shelf.remove(key)
        return await super().prune(tenant, retention, limit)


class PrunesWithoutEnd(MemoryStore):
    async def prune(self, tenant: str, retention: Retention, limit: int) -> Pruned:
        return await super().prune(tenant, retention, 1_000_000)


class ReplacesDefinitions(MemoryStore):
    async def register(self, *lifecycles: Lifecycle) -> list[Lifecycle]:
        self.shelf.lifecycles |= {(each.name, each.version): each for each in lifecycles}
        return list(self.shelf.lifecycles.values())


class HasAClockOfItsOwn(MemoryStore):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"clock": host_clock})


class ReconcilesOneTenant(MemoryStore):
    async def reconcile(self, limit: int) -> Replies:
        others = {key: job for key, job in self.shelf.jobs.items() if key[0] != "default"}
        for key in others:
            self.shelf.jobs[key] = replace(others[key], wake_at=None)
        replies = await super().reconcile(limit)
        self.shelf.jobs |= others
        return replies
