"""What a service does without being asked: what time demands, and retention, so that workers over HTTP need not."""

import asyncio
from collections.abc import Callable, Iterable

from detent.client import Client
from detent.runtime.backing_off import jittered
from detent.runtime.duty import for_ever
from detent.runtime.observing import Logging, Observer
from detent.runtime.reconciler import Pruner, Reconciler
from detent.runtime.settings import Settings as WorkerSettings
from detent.runtime.ways import Atlas
from detent.surfaces.http.settings import Settings


class Tending:
    """`heard` are tenants that asked for something. What is old is removed for each tenant by itself: for those, and
    for all that have a token, whether it was shown since the start or not. A store has no list of its tenants.
    """

    def __init__(
        self,
        client: Client,
        settings: Settings,
        heard: Callable[[], Iterable[str]],
        observer: Observer | None = None,
    ) -> None:
        self._client = client
        self._heard = heard
        self._settings = settings
        self._observer = observer or Logging()
        self._duties: list[asyncio.Task[None]] = []
        self._reconciler: Reconciler | None = None

    @property
    def is_at_work(self) -> bool:
        return bool(self._duties)

    def open(self) -> None:
        if self._settings.reconcile_s is None or self._settings.is_read_only:
            return
        asked = WorkerSettings(reconcile_s=self._settings.reconcile_s, retention=self._settings.retention)
        self._reconciler = Reconciler(self._client, asked, self._observer, Atlas(self._client))
        self._duties = [asyncio.create_task(self._reconciler.run())]
        if asked.retention is not None:
            self._duties.append(asyncio.create_task(for_ever("prune", lambda: self._prune(asked), self._observer)))

    async def _prune(self, asked: WorkerSettings) -> None:
        await asyncio.sleep(jittered(asked.prune_s))
        for tenant in await self.tenants():
            await Pruner(self._client.of_tenant(tenant), asked, self._observer).prune()

    async def tenants(self) -> list[str]:
        tokens = await self._client.store.tokens(None)
        own = (token.tenant for token in tokens if token.tenant is not None)
        return sorted({*self._heard(), *own})

    async def close(self) -> None:
        if self._reconciler is not None:
            await self._reconciler.settled()
        for duty in self._duties:
            duty.cancel()
        await asyncio.gather(*self._duties, return_exceptions=True)
