"""Telemetry for those who watch: what happens to jobs of engines, under the names of ENGINE's events."""

import asyncio
from collections.abc import Sequence

from msgspec import to_builtins

from detent.errors import DetentError, Forbidden, Unauthorized
from detent.surfaces.engine_socket.offering import LIFECYCLE
from detent.surfaces.engine_socket.outlet import Outlet
from detent.surfaces.engine_socket.visitor import CHECK_S, Visitor
from detent.surfaces.http.live import Ended, Filters
from detent.surfaces.http.live.item import Item
from detent.surfaces.http.live.reader import Reader
from detent.surfaces.http.service import Service
from detent.wire.engine_messages import JobProgress, Watch, WatchEnded
from detent.wire.telemetry import JobProgress as Progress
from detent.wire.telemetry import telemetry_of


class Watching:
    """Progress leaves no event in the log: it is passed on as it comes, to those who watch at this service."""

    def __init__(self, service: Service, outlet: Outlet, *, legacy: bool) -> None:
        self._service = service
        self._outlet = outlet
        self._legacy = legacy
        self._watchers: dict[asyncio.Task[None] | None, tuple[Visitor, Filters]] = {}

    async def begin(self, visitor: Visitor, said: Watch) -> str:
        """Where it begins. What was watched before is watched no more."""
        visitor.grant.check("read")
        visitor.stop_watching()
        filters = Filters(job_id=said.job_id, kind=said.job_type, queue=said.queue)
        begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        visitor.watching = asyncio.create_task(self._watch(visitor, filters, said.after, begun))
        return await begun

    async def progress(self, tenant: str, said: JobProgress, kind: str, queue: str) -> None:
        data = Progress(job_id=said.job_id, progress=round(said.progress))
        for visitor, filters in list(self._watchers.values()):
            wanted = {"job_id": said.job_id, "kind": kind, "queue": queue}
            is_meant = all(getattr(filters, name) in (None, value) for name, value in wanted.items())
            if visitor.grant.tenant == tenant and is_meant:
                await self._outlet.emit(visitor.sid, "JOB_PROGRESS", data)

    async def _watch(self, visitor: Visitor, filters: Filters, after: str | None, begun: "asyncio.Future[str]") -> None:
        tenant, own = visitor.grant.tenant, asyncio.current_task()
        try:
            with self._service.streaming.taken(tenant):
                async with self._service.hubs.reader(tenant, filters, after) as reader:
                    self._watchers[own] = visitor, filters
                    begun.set_result(reader.cursor)
                    ended = await self._emitted(visitor, reader)
            await self._outlet.emit(visitor.sid, "watch_ended", ended)
        except DetentError as error:
            if begun.done():
                raise
            begun.set_exception(error)
        finally:
            begun.cancel()
            self._watchers.pop(own, None)

    async def _emitted(self, visitor: Visitor, reader: Reader) -> WatchEnded:
        """The cursor is where it was told everything: whoever goes on from there has neither gap nor double."""
        cursor = reader.cursor
        while await self._outlet.ready_for_more(visitor.sid):
            batch = await reader.batch(CHECK_S)
            if isinstance(batch, Ended):
                return WatchEnded(reason=batch.reason, cursor=batch.cursor)
            if not await _is_still_let_in(visitor):
                return WatchEnded(reason="revoked", cursor=cursor)
            try:
                await self._emit(visitor, batch)
            except DetentError:
                return WatchEnded(reason="trouble", cursor=cursor)
            cursor = reader.cursor
        return WatchEnded(reason="left", cursor=cursor)

    async def _emit(self, visitor: Visitor, batch: Sequence[Item]) -> None:
        client = visitor.client
        ids = list(dict.fromkeys(item.event.job_id for item in batch))
        jobs = {job.id: job for job in await client.store.get(client.tenant, ids) if job is not None} if ids else {}
        for item in batch:
            job = jobs.get(item.event.job_id)
            if job is None or job.spec.lifecycle != LIFECYCLE:
                continue
            lifecycle = await client.lifecycle(LIFECYCLE, job.spec.lifecycle_version)
            for told in telemetry_of(lifecycle, item.event, job, legacy=self._legacy):
                said = self._service.showing.words(to_builtins(told.data))
                await self._outlet.emit(visitor.sid, told.name, said, item.cursor)


async def _is_still_let_in(visitor: Visitor) -> bool:
    """A store that does not answer just now takes nobody's token away."""
    try:
        await visitor.check()
    except (Unauthorized, Forbidden):
        return False
    except DetentError:
        return True
    return True
