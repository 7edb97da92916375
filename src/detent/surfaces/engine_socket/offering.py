"""Jobs that are due are offered to engines: to the least busy that can run them, within what it has room for.

An offer is no move. The job stays where it is until an engine acknowledges it, which is the claim; if it does not do so
in time, another one is asked. Several services may offer the same job: of two acknowledgements one is accepted.
"""

import asyncio
import logging
from collections import OrderedDict
from typing import Final

from detent.errors import InvalidArgument
from detent.kernel import Job
from detent.runtime.duty import nudged_within
from detent.store import ClaimRequest
from detent.surfaces.engine_socket.engine import Engine, Lanes
from detent.surfaces.engine_socket.outlet import Outlet
from detent.surfaces.engine_socket.roster import Roster, least_loaded
from detent.surfaces.engine_socket.settings import EngineSettings
from detent.surfaces.engine_socket.shaping import Shaping
from detent.surfaces.http.service import Service
from detent.surfaces.looking import LOOK_MAX, claimable_of
from detent.wire.engine_messages import JobOffer

LIFECYCLE: Final = "engine"
LOOK_FIRST: Final = 100  # jobs, beside those on offer
PASSED_MAX: Final = 10_000
NEWS_WAIT_S: Final = 30.0
log: Final = logging.getLogger("detent.engines")
_ASKING: Final = {"worker": "engines"}  # nobody claims in this name: it is only looked


class Offering:
    def __init__(
        self, service: Service, roster: Roster, outlet: Outlet, shaping: Shaping, settings: EngineSettings
    ) -> None:
        self._service = service
        self._roster = roster
        self._outlet = outlet
        self._shaping = shaping
        self._settings = settings
        self._nudged = asyncio.Event()
        # Who has let a job pass, and until when it is not asked again.
        self._passed: OrderedDict[tuple[str, str], dict[str, float]] = OrderedDict()

    def nudge(self) -> None:
        """There may be room, or work, that was not there."""
        self._nudged.set()

    async def round(self) -> None:
        """Once through all tenants that have engines; and then it waits for a reason to do so again."""
        self._nudged.clear()
        for tenant in self._roster.tenants:
            self._lapse(tenant)
            await self._offer(tenant)
        await nudged_within(self._settings.poll_s, self._nudged)

    async def hear(self, store_news: str | None) -> str:
        """Wait for news of work."""
        mark = await self._service.news(store_news, NEWS_WAIT_S)
        if mark != store_news:
            self.nudge()
        return mark

    def pass_by(self, engine: Engine, job_id: str) -> None:
        """It does not want the job: somebody else is asked first."""
        engine.lapse(job_id)
        until_s = _now_s() + self._settings.passed_s
        self._passed.setdefault((engine.tenant, job_id), {})[engine.name] = until_s
        if len(self._passed) > PASSED_MAX:
            self._passed.popitem(last=False)
        self.nudge()

    def _lapse(self, tenant: str) -> None:
        now_s = _now_s()
        for engine in self._roster.of_tenant(tenant):
            engine.listen_again(now_s)
            for job_id in engine.lapsed(now_s):
                engine.fall_silent(now_s + self._settings.passed_s)
                self.pass_by(engine, job_id)

    async def _offer(self, tenant: str) -> None:
        engines = self._roster.of_tenant(tenant)
        if not any(engine.room for engine in engines):
            return
        on_offer = {job_id for engine in engines for job_id in engine.offers}
        for lanes in dict.fromkeys(engine.lanes for engine in engines if engine.room):
            await self._offer_of(tenant, lanes, on_offer)

    async def _offer_of(self, tenant: str, lanes: Lanes, on_offer: set[str]) -> None:
        """To engines that can run the same."""
        limit = min(len(on_offer) + LOOK_FIRST, LOOK_MAX)
        request, store = self._request(tenant, lanes, limit), self._service.client_of(tenant).store
        found = await claimable_of(store, request, LIFECYCLE, beside=on_offer)
        for job in found:
            if await self._offer_one(tenant, job):
                on_offer.add(job.id)

    def _request(self, tenant: str, lanes: Lanes, limit: int) -> ClaimRequest:
        queues, kinds, adapters = lanes
        client = self._service.client_of(tenant)
        return client.claim_request(_ASKING, queues=queues, kinds=kinds, adapters=adapters, limit=limit)

    async def _offer_one(self, tenant: str, job: Job) -> bool:
        try:
            shape = await self._shaping.job(self._service.client_of(tenant), job)
        except InvalidArgument as wrong:  # others wait behind it; its own time will be over
            log.warning("a job cannot be offered to engines: %s", wrong)
            return False
        now_s, offer_s = _now_s(), self._settings.offer_s
        engine = least_loaded(self._roster.of_tenant(tenant), job, self._passing(tenant, job.id, now_s))
        if engine is None:
            return False
        engine.offer(job.id, now_s=now_s, until_s=now_s + offer_s)
        await self._outlet.emit(engine.sid, "job_offer", JobOffer(job=shape, expires_in_s=offer_s))
        return True

    def _passing(self, tenant: str, job_id: str, now_s: float) -> set[str]:
        passed = self._passed.get((tenant, job_id), {})
        return {name for name, until_s in passed.items() if until_s > now_s}


def _now_s() -> float:
    return asyncio.get_running_loop().time()
