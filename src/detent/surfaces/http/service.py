"""The service: one store, a client of it for each tenant, and what they share. An ASGI app is made of it in `asgi`."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Final

from starlette.requests import Request

from detent.client import Client, Job
from detent.client.connecting import Connecting
from detent.client.moments import to_moment_or_none
from detent.errors import InvalidArgument, StoreError
from detent.store import Replies
from detent.store.waiting import now_s
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.attaching import Attachment
from detent.surfaces.http.door import Door
from detent.surfaces.http.grants import Grant
from detent.surfaces.http.line import Lines
from detent.surfaces.http.live import Ended, Filters, Hubs
from detent.surfaces.http.load import Load
from detent.surfaces.http.metering import Meters
from detent.surfaces.http.openapi import document
from detent.surfaces.http.operations.tokens import SessionShape
from detent.surfaces.http.places import Places
from detent.surfaces.http.readiness import Readiness
from detent.surfaces.http.settings import Settings
from detent.surfaces.http.showing import Showing
from detent.surfaces.http.strangers import Strangers
from detent.surfaces.http.telling import tell_trouble
from detent.surfaces.http.tending import Tending
from detent.telemetry.redaction import Redaction
from detent.version import __version__

CLIENTS_MAX: Final = 1_000  # of tenants; one that is asked for again is made anew


class Service:
    """Open it before it is asked anything, and close it last; both are done by the ASGI app's own lifespan."""

    def __init__(
        self, connecting: Connecting, settings: Settings | None = None, attached: Sequence[Attachment] = ()
    ) -> None:
        self.settings = settings or Settings()
        self.attached = tuple(attached)
        self._connecting = connecting
        self._clients: OrderedDict[str, Client] = OrderedDict()
        self._stack = AsyncExitStack()
        self.waiting = Places(self.settings.waiting_max, "too_many_waiting")
        self.streaming = Places(self.settings.streams_max, "too_many_streams")
        self.load = Load(self.settings.bodies_bytes_max)
        self.showing = Showing(Redaction.of(",".join(self.settings.redact)))
        self.is_closing = False
        self.strangers = Strangers(self.settings)
        self.readiness = Readiness(self.probe)

    # -- from beginning to end

    async def open(self) -> None:
        self._first = await self._stack.enter_async_context(self._connecting)
        store = self._first.store
        self.door = Door(store, self.settings)
        self._meters = Meters(store)
        self.lines = Lines(store)
        shown, how = self.showing.server_sent, self.settings.live
        self.hubs = Hubs(store, encode=shown, settings=how, troubled=tell_trouble)
        shared = self._first.of_tenant(self._first.tenant, self._meters.shared())
        self._tending = Tending(shared, self.settings, lambda: [self._first.tenant, *self._clients])
        self._tending.open()
        for each in self.attached:
            await each.open(self)

    async def close(self) -> None:
        """Whoever waits is sent away, live readers end cleanly, and then the store is closed."""
        self.begin_closing()
        await self.send_away()
        await asyncio.gather(*(each.close() for each in self.attached))
        await self._tending.close()
        await self._stack.aclose()

    def begin_closing(self) -> None:
        """From now on it is not ready, and begins nothing new."""
        self.is_closing = True

    async def send_away(self) -> None:
        """Who waits for work gets none, and who reads live is told where it is."""
        await asyncio.gather(*(each.send_away() for each in self.attached))
        await asyncio.gather(self.lines.close(), self.hubs.close())

    # -- what handlers share

    def client_of(self, tenant: str) -> Client:
        client = self._clients.pop(tenant, None)
        if client is None:
            client = self._first.of_tenant(tenant, self._meters.store_of(tenant))
        self._clients[tenant] = client
        if len(self._clients) > CLIENTS_MAX:
            self._clients.popitem(last=False)
        return client

    def wait_s_of(self, wait_s: float) -> float:
        most = self.settings.wait_s_max
        if not 0 <= wait_s <= most:
            raise InvalidArgument(f"wait_s is {wait_s:g}; wait 0 to {most:g} s, and ask again")
        return wait_s

    async def ended(self, ask: Ask, job_id: str, wait_s: float) -> Job | None:
        """The job once it has ended, or when the time is over; None if the asker has gone."""
        with self.waiting.taken(ask.grant.tenant):
            return await ask.unless_gone(self._ended(ask, job_id, wait_s))

    async def _ended(self, ask: Ask, job_id: str, wait_s: float) -> Job:
        """By what the one tail of the log tells, so that however many wait, nothing is asked of the store meanwhile."""
        until_s = now_s() + wait_s
        async with self.hubs.reader(ask.grant.tenant, Filters(job_id=job_id)) as reader:
            while True:
                job = await ask.client.get(job_id)
                left_s = until_s - now_s()
                if job.is_ended or left_s <= 0 or isinstance(await reader.batch(left_s), Ended):
                    return job

    def session_of(self, grant: Grant) -> SessionShape:
        return SessionShape(
            name=grant.name, tenant=grant.tenant, scopes=sorted(grant.scopes), worker=grant.worker,
            is_any_tenant=grant.is_any_tenant, is_read_only=self.settings.is_read_only,
            is_tended=self._tending.is_at_work, version=__version__,
            expires_at=to_moment_or_none(grant.expires_at),
        )  # fmt: skip

    async def probe(self) -> None:
        """The store answers, or says why not."""
        await self._first.store.get("default", ["readyz"])
        await self._check_place()

    async def _check_place(self) -> None:
        """What is open answers, though it may be gone: this looks at the place anew."""
        if any(each.applied_at is None for each in await self._first.store.migrations()):
            raise StoreError("the store is no longer where it was", code="store_moved")

    async def metrics(self, tenant: str) -> bytes:
        beside = [each for attached in self.attached for each in attached.families(tenant)]
        return await self._meters.exposed(tenant, beside)

    async def news(self, seen: str | None, timeout_s: float) -> str:
        """Of work, whichever tenant's."""
        return await self._first.store.news(seen, timeout_s)

    async def reconcile(self, limit: int) -> Replies:
        return await self._meters.shared().reconcile(limit)

    def prefix_of(self, request: Request) -> str:
        """Under which it is mounted."""
        prefix: str = request.scope.get("root_path", "")
        return prefix.rstrip("/")

    def openapi_text(self) -> bytes:
        return document()
