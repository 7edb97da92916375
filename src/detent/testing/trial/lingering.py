"""A store on which nobody waits in vain: whoever waits for the log to grow lets the trial go on meanwhile."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from detent.store import Store

# The trial goes on by one step; whether that is of any use, the waiter sees by itself.
Linger = Callable[[float], Awaitable[None]]


class Lingering:
    """All of it is the store's own, but for `wait`."""

    def __init__(self, store: Store, linger: Linger) -> None:
        self._store = store
        self._linger = linger

    async def wait(self, cursor: str | None, timeout_s: float) -> str:
        end = await self._store.wait(cursor, 0)
        if cursor is None or timeout_s <= 0 or end != cursor:
            return end
        await self._linger(timeout_s)
        return await self._store.wait(cursor, 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def lingering(store: Store, linger: Linger) -> Store:
    return cast(Store, Lingering(store, linger))
