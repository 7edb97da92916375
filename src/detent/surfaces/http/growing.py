"""Waiting until something of one tenant's own is in the log. A store wakes who waits for the events of all tenants:
whoever heard of those would learn when others work, and how much.

The place that was come to goes out, as a cursor or as a mark. Whoever asks twice sees that it has moved, by others'
doing too; that is so for every cursor.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from detent.errors import InvalidArgument
from detent.kernel import Event
from detent.store import EventQuery, Store
from detent.store.waiting import now_s

PAGE_MAX: Final = 250
PAUSE_S: Final = 0.02  # after a look for nothing: others may write all the time


class Growth:
    """Of one tenant's log, from a place on."""

    def __init__(self, store: Store, tenant: str, place: str) -> None:
        self._store = store
        self._query = EventQuery(tenant=tenant)
        self.place = place

    async def has(self, is_wanted: Callable[[Event], bool], page_max: int = PAGE_MAX) -> bool:
        """Whether there is such an event. If not, nothing up to the place, where it goes on, has to be read again."""
        while True:
            page = await self._store.events(self._query, page_max, self.place)
            if any(is_wanted(entry.event) for entry in page):
                return True
            self.place = page.cursor or self.place
            if len(page.items) < page_max:
                return False


async def end_beyond(store: Store, tenant: str, after: str, wait_s: float) -> str:
    """As `Store.wait`, by this tenant's events alone."""
    growth = Growth(store, tenant, after)

    async def look() -> bool:
        return await growth.has(lambda event: True, 1)

    async def stirred(left_s: float) -> None:
        await store.wait(growth.place, left_s)

    has_grown = await _found(look, stirred, wait_s)
    return await store.wait(None, 0) if has_grown else growth.place


async def news_beyond(store: Store, tenant: str, seen: str, wait_s: float) -> str:
    """As `Store.news`, by this tenant's jobs alone. The mark is a place in the log, whichever process is asked.

    That a key has room again is not in an event: a job that waited for it is found when its worker looks by itself.
    """
    growth, heard = Growth(store, tenant, seen), ""

    async def look() -> bool:
        nonlocal heard
        heard = await store.news(None, 0)  # before the look, so that nothing comes between the two
        return await growth.has(_makes_work)

    async def stirred(left_s: float) -> None:
        await store.news(heard, left_s)

    try:
        is_new = await _found(look, stirred, wait_s)
    except InvalidArgument:
        is_new = True  # a mark of another kind, as those are that a token for any tenant is given
    return await store.wait(None, 0) if is_new else growth.place


def _makes_work(event: Event) -> bool:
    return event.changes.get("claim_at") is not None


async def _found(
    look: Callable[[], Awaitable[bool]], stirred: Callable[[float], Awaitable[None]], wait_s: float
) -> bool:
    """Whether there was something within the time. `stirred` waits until a look may find more than the last one."""
    until_s = now_s() + wait_s
    if await look():
        return True
    while (left_s := until_s - now_s()) > 0:
        await stirred(left_s)
        if await look():
            return True
        await asyncio.sleep(min(PAUSE_S, left_s))
    return False
