"""Jobs of the bus's topics get their verdicts here: a pool's workers know of no policy."""

from collections.abc import Callable
from typing import Final

from detent.client import Client
from detent.runtime.gate import Gate, Gatekeeper
from detent.runtime.observing import Logging
from detent.runtime.settings import Settings
from detent.store import JobQuery
from detent.surfaces.bus.link import Link
from detent.surfaces.bus.requests import LIFECYCLE

KEEPERS_MAX: Final = 1_000
_UNJUDGED: Final = "PENDING"
_BY: Final = ("queue", "kind")


class Judge:
    """A gatekeeper for each topic in which something waits: it remembers what it has to ask about later."""

    def __init__(self, client: Client, gate: Gate, link: Link, ready: Callable[[], None]) -> None:
        self._client = client
        self._gate = gate
        self._link = link
        self._ready = ready
        self._keepers: dict[tuple[str, str], Gatekeeper] = {}

    async def judge(self) -> None:
        """Once through all that waits."""
        waiting = JobQuery(tenant=self._client.tenant, lifecycle=LIFECYCLE, state=_UNJUDGED)
        for queue, kind in await self._client.store.count(waiting, _BY):
            if queue is not None and kind is not None and queue in self._link.topics:
                await self._keeper(queue, kind).walk()

    def _keeper(self, topic: str, kind: str) -> Gatekeeper:
        keeper = self._keepers.get((topic, kind))
        if keeper is None:
            while len(self._keepers) >= KEEPERS_MAX:
                del self._keepers[next(iter(self._keepers))]
            keeper = self._keepers[topic, kind] = Gatekeeper(
                self._client, self._gate, worker=self._link.settings.name, kinds=[kind],
                settings=Settings(queues=(topic,)), observer=Logging(), ready=self._ready,
            )  # fmt: skip
        return keeper
