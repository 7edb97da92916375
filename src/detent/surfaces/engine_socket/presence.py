"""Engines among the store's workers, so that everybody sees them: from when they register until they are gone for good.

A closed socket alone is not gone: the engine may come back for what it holds. It is gone once it holds nothing, which
for one that stays away is when its heartbeats are missed.
"""

from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from detent.client import Client
from detent.surfaces.engine_socket.engine import Engine
from detent.surfaces.engine_socket.roster import Roster
from detent.surfaces.http.service import Service

AWAY_MAX: Final = 10_000  # those beyond it go from the list when they are not reported any more
_HOST: Final = "socket.io"
_NO_VERSION: Final = "-"  # an engine is not of our making, and may say nothing of it


class Presence:
    def __init__(self, service: Service, roster: Roster) -> None:
        self._service = service
        self._roster = roster
        self._away: OrderedDict[tuple[str, str], Engine] = OrderedDict()

    def leave(self, engine: Engine) -> None:
        """Its connection is closed."""
        self._away[engine.tenant, engine.name] = engine
        if len(self._away) > AWAY_MAX:
            self._away.popitem(last=False)

    async def report(self) -> None:
        """All that are there, and those that may come back."""
        for engine in self._roster:
            await self._report(engine)
        await self._look_for(list(self._away.values()))

    async def catch_up(self) -> None:
        """With who has just come, and who left with nothing in its hands."""
        for engine in [each for each in self._roster if not each.is_listed]:
            await self._report(engine)
        await self._look_for([each for each in self._away.values() if not each.held])

    async def _look_for(self, engines: Iterable[Engine]) -> None:
        """However many are away, who is listed is asked once."""
        listed: dict[str, dict[str, datetime]] = {}
        for engine in engines:
            client = self._service.client_of(engine.tenant)
            if engine.tenant not in listed:
                listed[engine.tenant] = {each.name: each.started_at for each in await client.workers()}
            await self._look_for_one(client, engine, listed[engine.tenant].get(engine.name))

    async def _look_for_one(self, client: Client, engine: Engine, listed_since: datetime | None) -> None:
        if self._is_back(engine, listed_since):
            self._forget(engine)
        elif await self._still_holds(client, engine):
            await self._report(engine)
        else:
            await client.forget_worker(engine.name)
            self._forget(engine)

    def _is_back(self, engine: Engine, listed_since: datetime | None) -> bool:
        """Here; or at another service, which reports it as begun at another time."""
        is_here = self._roster.named(engine.tenant, engine.name) is not None
        return is_here or listed_since not in (None, engine.since)

    async def _still_holds(self, client: Client, engine: Engine) -> bool:
        """By the record: whoever has missed two heartbeats owns nothing any more. What it has said before may still
        be under way, and release some of it meanwhile.
        """
        fences = {job_id: engine.fence_of(job_id) for job_id in engine.held}
        jobs = await client.store.get(engine.tenant, list(fences)) if fences else []
        held = {job.id for job in jobs if job is not None and (job.owner, job.attempt) == fences[job.id]}
        for job_id in fences.keys() - held:
            engine.release(job_id)
        return bool(held)

    def _forget(self, engine: Engine) -> None:
        """Unless it has come back and left again meanwhile."""
        if self._away.get((engine.tenant, engine.name)) is engine:
            del self._away[engine.tenant, engine.name]

    async def _report(self, engine: Engine) -> None:
        engine.is_listed = True
        await self._service.client_of(engine.tenant).report_worker(
            engine.name, host=_HOST, pid=0, started_at=engine.since, queues=engine.queues, kinds=engine.kinds,
            adapters=None if engine.adapters is None else sorted(engine.adapters),
            slots=max(engine.capacity, len(engine.held)), running=len(engine.held),
            version=engine.version or _NO_VERSION, is_draining=engine.capacity == 0,
        )  # fmt: skip
