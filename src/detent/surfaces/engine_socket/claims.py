"""Claims of engines that are under way: one that was cut off in the midst of it comes back to what came of it."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from detent.surfaces.engine_socket.engine import Engine

SETTLE_S: Final = 10.0


class Claims:
    def __init__(self) -> None:
        self._under_way: defaultdict[tuple[str, str], set[asyncio.Future[None]]] = defaultdict(set)

    @contextmanager
    def under_way(self, engine: Engine) -> Iterator[None]:
        key, over = (engine.tenant, engine.name), asyncio.get_running_loop().create_future()
        self._under_way[key].add(over)
        try:
            yield
        finally:
            over.set_result(None)
            self._under_way[key].discard(over)
            if not self._under_way[key]:
                del self._under_way[key]

    async def settled(self, engine: Engine) -> None:
        """Whatever was asked for under its name before, on whichever connection, has happened or not."""
        claims = self._under_way.get((engine.tenant, engine.name))
        if claims:
            await asyncio.wait(set(claims), timeout=SETTLE_S)
