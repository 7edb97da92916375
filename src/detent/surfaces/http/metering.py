"""What the service counts, for each tenant apart: one tenant's queues and kinds are no other's business."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final, cast

from detent.errors import DetentError
from detent.store import Replies, Reply, Store
from detent.surfaces.telemetry.gauges import Gauges
from detent.surfaces.telemetry.meter import Meter
from detent.surfaces.telemetry.metered import metered
from detent.surfaces.telemetry.service import Families, exposed

TENANTS_MAX: Final = 1_000
_OTHERS: Final = "\0others"  # no tenant can be called so: what is counted together is shown to nobody


class Meters:
    """Counters only grow, so that none is ever forgotten; tenants beyond the bound are counted together."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._meters: dict[str, Meter] = {}
        self._gauges: dict[str, Gauges] = {}

    def of(self, tenant: str) -> Meter:
        if tenant not in self._meters and len(self._meters) >= TENANTS_MAX:
            tenant = _OTHERS
        return self._meters.setdefault(tenant, Meter())

    def store_of(self, tenant: str) -> Store:
        """The store, counting what this tenant asks of it."""
        return metered(self._store, self.of(tenant))

    def shared(self) -> Store:
        """The store, for what concerns all tenants: what time demands is counted for whose job it was."""
        return cast(Store, _Shared(self._store, self))

    async def exposed(self, tenant: str, beside: Families = ()) -> bytes:
        """`beside`: what others have counted."""
        if tenant not in self._meters and len(self._meters) >= TENANTS_MAX:
            alone = Meter()  # it was counted together with others, and that is shown to nobody
            return await exposed(alone, Gauges(self._store, alone, (tenant,)), beside)
        if tenant not in self._gauges:
            self._gauges = dict(list(self._gauges.items())[-TENANTS_MAX:])
            self._gauges[tenant] = Gauges(self._store, self.of(tenant), (tenant,))
        return await exposed(self.of(tenant), self._gauges[tenant], beside)

    async def reconciled(self, replies: Iterable[Reply]) -> None:
        own: dict[str, list[Reply]] = defaultdict(list)
        for reply in replies:
            own[reply.job.spec.tenant].append(reply)
        for tenant, those in own.items():
            meter = self.of(tenant)
            await self._learn(meter, those)
            meter.reconciled(list(those))

    async def _learn(self, meter: Meter, replies: list[Reply]) -> None:
        """What was written stands, and is told, even if the store cannot be asked just now."""
        if all(meter.knows(reply.job) for reply in replies):
            return
        try:
            meter.learn(await self._store.register())
        except DetentError as error:
            meter.failed(error)


class _Shared:
    def __init__(self, store: Store, meters: Meters) -> None:
        self._store = store
        self._meters = meters

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def reconcile(self, limit: int) -> Replies:
        replies = await self._store.reconcile(limit)
        await self._meters.reconciled(reply for reply in replies if isinstance(reply, Reply))
        return replies
