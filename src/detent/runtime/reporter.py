"""Reporting to the store's table of workers: that this one is there, what it serves and how busy it is."""

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from detent.client import Client
from detent.errors import DetentError
from detent.runtime.duty import for_ever, nudged_within
from detent.runtime.observing import Observer
from detent.runtime.store_clock import StoreClock
from detent.store.fleet import REPORT_S, Lane

GOODBYE_S: Final = 2.0  # for a last word; who cannot say it is gone from the list after three reports


class Reporter:
    """`lanes` says how many slots are taken, `is_draining` whether it claims no more; a `clock` hears of the time."""

    def __init__(
        self,
        client: Client,
        worker: str,
        observer: Observer,
        *,
        queues: Sequence[str],
        kinds: Sequence[str],
        adapters: Sequence[str] | None,
        lanes: Callable[[], Sequence[Lane]],
        is_draining: Callable[[], bool],
        clock: StoreClock | None,
    ) -> None:
        self._client = client
        self._worker = worker
        self._observer = observer
        self._queues, self._kinds, self._adapters = queues, kinds, adapters
        self._lanes, self._is_draining = lanes, is_draining
        self._clock = clock
        self._started_at = datetime.now(UTC)
        self._nudged = asyncio.Event()

    def nudge(self) -> None:
        """What it says of itself has just changed."""
        self._nudged.set()

    async def run(self) -> None:
        await for_ever("report", self._round, self._observer)

    async def leave(self) -> None:
        try:
            async with asyncio.timeout(GOODBYE_S):
                await self._client.forget_worker(self._worker)
        except (DetentError, TimeoutError) as error:
            self._observer.troubled("last report", error)

    async def _report(self) -> None:
        lanes = self._lanes()
        await self._client.report_worker(
            self._worker,
            host=socket.gethostname(),
            pid=os.getpid(),
            started_at=self._started_at,
            queues=self._queues,
            kinds=self._kinds,
            adapters=self._adapters,
            slots=sum(lane.slots for lane in lanes),
            running=sum(lane.running for lane in lanes),
            is_draining=self._is_draining(),
            lanes=lanes,
        )

    async def _round(self) -> None:
        self._nudged.clear()
        await self._report()
        if self._clock is not None:
            await self._listen(self._clock)
        await nudged_within(REPORT_S, self._nudged)

    async def _listen(self, clock: StoreClock) -> None:
        """What the store made of the report, and so what time it was there."""
        for each in await self._client.workers(within_s=REPORT_S):
            if each.name == self._worker:
                clock.heard(each.seen_at)
