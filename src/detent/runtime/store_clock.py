"""What time it is for the store, as far as a worker can tell: by the moments that the store gives its reports.

A worker whose own clock is wrong must not have the ticks of the whole fleet too early.
"""

import asyncio
from collections import deque
from datetime import datetime
from time import monotonic
from typing import Final

from detent.client.moments import to_micros, to_moment

HEARD_MAX: Final = 12  # reports, a minute's worth


class StoreClock:
    """Never ahead of the store: when it is heard that the store saw a report, the store's clock has gone on already."""

    def __init__(self) -> None:
        self._leads: deque[float] = deque(maxlen=HEARD_MAX)  # of the store's clock over our monotonic one
        self._known = asyncio.Event()

    def heard(self, seen_at: datetime) -> None:
        """The store had this time when it saw a report of which we hear now. Of several, the quickest is the best."""
        self._leads.append(to_micros("seen_at", seen_at) - _monotonic())
        self._known.set()

    async def known(self) -> None:
        """Wait until something was heard."""
        await self._known.wait()

    def now(self) -> datetime:
        return to_moment(round(_monotonic() + max(self._leads)))


def _monotonic() -> float:
    return monotonic() * 1e6
