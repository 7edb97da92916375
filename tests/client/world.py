"""A store with a job in every position, and callers that use it: one blocking, one on an event loop."""

import asyncio
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol

from detent.client import Client, Codec, SyncClient
from detent.client.moments import to_moment
from detent.client.sync import run
from detent.lifecycles import BUILT_IN
from detent.store.tokens import Token
from detent.testing import VirtualClock
from tests.client.places import Place

NOW: Final = 1_738_425_600_123_456  # 2025-02-01T16:00:00.123456Z
ERRORS_PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "errors.md"
CODES: Final = frozenset(re.findall(r"`([a-z_]+)`", ERRORS_PAGE.read_text(encoding="utf-8")))
TAIL_MAX: Final = 100
# A position a job can be in, its lifecycle, and the way there.
POSITIONS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "waiting": ("standard", ()),
    "held": ("standard", ("claim",)),
    "running": ("standard", ("claim", "start")),
    "ended": ("standard", ("claim", "start", "complete")),
    "draft": ("document", ()),
    "pending": ("dispatch", ()),
    "onhold": ("dispatch", ("schedule",)),
    "stalled": ("contract", ("claim", "stall")),
    "setaside": ("standard", ("dead_letter",)),
}
TOKEN: Final = Token(id="ci", name="ci", tenant="default", scopes=("read",), digest="0" * 64, created_by="ann")
WITH: Final[dict[str, dict[str, Any]]] = {
    "start": {"worker": "w"},
    "complete": {"worker": "w", "result": {"pages": 3}},
    "schedule": {"verdict": "hold", "rule": "r"},
    "stall": {"role": "scheduler"},
    "dead_letter": {"role": "operator"},
}


class World:
    """One place, one clock. `client` and `blocking` share a store; `prepare` fills it."""

    def __init__(self, place: Place, *, codec: Codec | None = None) -> None:
        self.place = place
        self.clock = VirtualClock(NOW)
        store = place.store(self.clock, lambda: 0.5)
        self.client = Client(store, tenant="default", codec=codec or Codec(), lifecycles=tuple(BUILT_IN.values()))
        self.blocking = SyncClient(self.client)
        self.blocking.open()

    def close(self) -> None:
        self.place.close()
        self.blocking.close()

    def beside(self, *, tenant: str = "default", codec: Codec | None = None) -> SyncClient:
        """Another client of the same store."""
        other = Client(self.client.store, tenant=tenant, codec=codec or Codec(), lifecycles=())
        other._registry = self.client._registry
        return SyncClient(other)

    def prepare(self, *positions: str, suffix: str = "") -> None:
        """A job in each of these positions, which is also its id; if none is named, in all, a schedule and a token."""
        for position in positions or POSITIONS:
            self._make(position, position + suffix)
        if not positions:
            next_at = to_moment(self.clock())
            self.blocking.keep_schedules([{"name": "nightly", "cron": "0 3 * * *", "kind": "scan", "next_at": next_at}])
            run(self.client.store.keep_token(TOKEN))

    def _make(self, position: str, job_id: str) -> None:
        lifecycle, path = POSITIONS[position]
        job = self.blocking.enqueue("scan", job_id=job_id, queue=job_id, lifecycle=lifecycle)
        for verb in path:
            if verb == "claim":
                (job,) = self.blocking.claim(worker="w", queues=[job_id])
            else:
                job = getattr(self.blocking, verb)(job_id, expected_rev=job.rev, **WITH.get(verb, {}))

    def snapshot(self) -> dict[str, list[Any]]:
        """Every row of every table, read past the client."""
        return {name: self.place.rows_of(name) for name in self.place.tables()}

    def snapshot_of(self, table: str) -> list[Any]:
        return self.place.rows_of(table)

    def version(self) -> object:
        """Another one than before: something was written."""
        return self.place.version()


class Caller(Protocol):
    def call(self, verb: str, arguments: dict[str, Any]) -> Any: ...


class BlockingCaller:
    def __init__(self, world: World) -> None:
        self._sync = world.blocking

    def call(self, verb: str, arguments: dict[str, Any]) -> Any:
        answer = getattr(self._sync, verb)(**arguments)
        return list(islice(answer, TAIL_MAX)) if isinstance(answer, Iterator) else answer


class AsyncCaller:
    def __init__(self, world: World, runner: asyncio.Runner) -> None:
        self._client, self._runner = world.client, runner

    def call(self, verb: str, arguments: dict[str, Any]) -> Any:
        return self._runner.run(self._call(verb, arguments))

    async def _call(self, verb: str, arguments: dict[str, Any]) -> Any:
        if verb == "tail":
            return [event async for event in self._client.tail(**arguments)]
        return await getattr(self._client, verb)(**arguments)
