"""Telling claimers that there may be something to claim, as soon as the store knows: one who waits for all of them."""

from collections.abc import Callable
from typing import Final

from detent.client import Client
from detent.runtime.duty import for_ever
from detent.runtime.observing import Observer

WAIT_S: Final = 30.0  # at a time


class Waker:
    def __init__(self, client: Client, observer: Observer, wake: Callable[[], None]) -> None:
        self._client = client
        self._observer = observer
        self._wake = wake
        self._seen: str | None = None

    async def run(self) -> None:
        await for_ever("listen", self._round, self._observer)

    async def _round(self) -> None:
        news = await self._client.store.news(self._seen, WAIT_S)
        if news != self._seen:
            self._seen = news
            self._wake()
