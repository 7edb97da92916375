"""Whether the service can work. Anybody may ask, so however many do, the store is asked once in a while."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from detent.errors import DetentError, ServiceError
from detent.store.waiting import now_s

PROBE_S: Final = 5.0  # that the store may take to answer
KEPT_S: Final = 1.0  # for which what was found is told again, good or bad


class Readiness:
    """`probe` looks at the store, and raises what is wrong with it."""

    def __init__(self, probe: Callable[[], Awaitable[None]], *, clock: Callable[[], float] = now_s) -> None:
        self._probe = probe
        self._clock = clock
        self._looking = asyncio.Lock()  # who asks meanwhile waits for the one look, and is told what it found
        self._trouble: str | None = None
        self._until_s: float | None = None

    async def check(self) -> None:
        """`ServiceError`, if it cannot work."""
        async with self._looking:
            if self._until_s is None or self._clock() >= self._until_s:
                self._trouble = await self._looked()
                self._until_s = self._clock() + KEPT_S
        if self._trouble is not None:
            raise ServiceError("not_ready", f"not ready: {self._trouble}; the service goes on trying")

    async def _looked(self) -> str | None:
        try:
            async with asyncio.timeout(PROBE_S):
                await self._probe()
        except DetentError as error:
            return error.code
        except TimeoutError:
            return "the store does not answer"
        return None
