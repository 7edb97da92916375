"""Engines are told what others have done to their jobs: that one is to stop, or is theirs no more."""

from typing import Final

from detent.client import Client
from detent.kernel import Event, Job
from detent.store.query import PAGE_MAX
from detent.surfaces.engine_socket.engine import Engine
from detent.surfaces.engine_socket.outlet import Outlet
from detent.surfaces.engine_socket.roster import Roster
from detent.surfaces.engine_socket.shaping import Shaping
from detent.surfaces.http.live import Ended
from detent.surfaces.http.service import Service

# What an engine does itself is answered, and needs not be told.
_OWN: Final = frozenset({"claim", "start", "renew", "complete", "fail"})


class Following:
    """One reader of a tenant's log for all engines of the tenant."""

    def __init__(self, service: Service, roster: Roster, outlet: Outlet, shaping: Shaping) -> None:
        self._service = service
        self._roster = roster
        self._outlet = outlet
        self._shaping = shaping

    async def follow(self, tenant: str) -> None:
        """Until the reader is cut off; whoever follows again looks first at what happened in between."""
        async with self._service.hubs.reader(tenant) as reader:
            await self._look(tenant, [job_id for engine in self._roster.of_tenant(tenant) for job_id in engine.held])
            while not isinstance(batch := await reader.batch(), Ended):
                await self._look(tenant, [item.event.job_id for item in batch if self._is_news(item.event)])

    def _is_news(self, event: Event) -> bool:
        engine = self._roster.holder(event.tenant, event.job_id)
        return engine is not None and not (event.verb in _OWN and event.worker == engine.name)

    async def _look(self, tenant: str, job_ids: list[str]) -> None:
        wanted, client = list(dict.fromkeys(job_ids)), self._service.client_of(tenant)
        for start in range(0, len(wanted), PAGE_MAX):
            page = wanted[start : start + PAGE_MAX]
            for job_id, job in zip(page, await client.store.get(tenant, page), strict=True):
                engine = self._roster.holder(tenant, job_id)
                if engine is not None:
                    await self._tell(client, engine, job_id, job)

    async def _tell(self, client: Client, engine: Engine, job_id: str, job: Job | None) -> None:
        attempt = engine.held[job_id]
        if job is not None and (job.owner, job.attempt) == (engine.name, attempt):
            if job.cancel_by is not None:
                await self._outlet.emit(engine.sid, "job_cancel", await self._shaping.stop(client, job))
            return
        self._roster.release(engine, job_id)
        await self._outlet.emit(engine.sid, "job_lost", await self._shaping.lost(client, job_id, attempt, job))
