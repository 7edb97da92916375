"""Which jobs a worker leaves to others because they name an adapter that one of those has.

An adapter is a hint. A worker that says which it has takes jobs that name one of them, or none. One that says nothing
takes any, but for those that a worker who has their adapter would take: as long as there is one.
"""

import asyncio
from collections.abc import Sequence

from detent.client import Client
from detent.client.workers import Worker
from detent.errors import DetentError
from detent.runtime.backing_off import jittered
from detent.runtime.observing import Observer
from detent.runtime.settings import Settings
from detent.store.fleet import REPORT_S

Lane = tuple[str, str, str]  # queue, kind, adapter


class Adapters:
    """`spared` are the lanes left to others, by what workers last reported."""

    def __init__(
        self, client: Client, *, worker: str, kinds: Sequence[str], settings: Settings, observer: Observer
    ) -> None:
        self._client = client
        self._worker = worker
        self._kinds = frozenset(kinds)
        self._settings = settings
        self._observer = observer
        self.spared: frozenset[Lane] = frozenset()

    async def run(self) -> None:
        while self._settings.adapters is None:
            await asyncio.sleep(jittered(REPORT_S) / 2)
            await self.look()

    async def look(self) -> None:
        """If the store is in trouble, what was known before still holds."""
        if self._settings.adapters is not None:
            return
        try:
            others = await self._client.workers()
        except DetentError as error:
            self._observer.troubled("adapters", error)
            return
        self.spared = frozenset(lane for each in others if each.name != self._worker for lane in self._lanes(each))

    def _lanes(self, other: Worker) -> list[Lane]:
        """A worker that drains takes nothing more."""
        if other.is_draining:
            return []
        kinds = self._kinds if other.kinds is None else self._kinds.intersection(other.kinds)
        queues = set(self._settings.queues).intersection(other.queues)
        return [(queue, kind, adapter) for queue in queues for kind in kinds for adapter in other.adapters or ()]
