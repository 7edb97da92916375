"""The clients of an app: one store, opened when something is first asked of it, in this process."""

import os
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from detent.client import Client, Codec
from detent.client.connecting import Connecting
from detent.lifecycle import Lifecycle
from detent.store import Store
from detent.store.waiting import sleep

TURN_S: Final = 0.002  # between two looks whether somebody else has finished opening


class Clients:
    """`connecting` gives the store, not yet open; `lifecycles` those declared by now. Threads may share it."""

    def __init__(
        self,
        connecting: Callable[[], Connecting],
        lifecycles: Callable[[], Sequence[Lifecycle]],
        *,
        tenant: str,
        codec: Codec,
    ) -> None:
        self._connecting = connecting
        self._lifecycles = lifecycles
        self._tenant = tenant
        self._codec = codec
        self._pid = os.getpid()
        self._busy = threading.Lock()
        self._client: Client | None = None
        self._registered = 0
        self._inherited: list[Client | None] = []

    async def own(self) -> Client:
        """The app's own tenant's. It knows every lifecycle that was declared before the call."""
        self._notice_fork()
        declared = self._lifecycles()
        if self._client is not None and self._registered >= len(declared):
            return self._client
        async with self._turn():
            if self._client is None or self._registered < len(declared):
                self._client = await self._opened(declared)
                self._registered = len(declared)
            return self._client

    async def of(self, tenant: str) -> Client:
        """Another tenant's, on the same store: it holds nothing, and can do all but enqueue."""
        own = await self.own()
        return own if tenant in (own.tenant, self._tenant) else self._on(own.store, tenant)

    async def close(self) -> None:
        self._notice_fork()
        async with self._turn():
            client, self._client = self._client, None
            if client is not None:
                await client.close()

    async def _opened(self, lifecycles: Sequence[Lifecycle]) -> Client:
        store = self._connecting().store if self._client is None else self._client.store
        self._client = None  # if registering fails the store is closed again
        client = self._on(store, self._tenant, lifecycles)
        await client.open()
        return client

    def _on(self, store: Store, tenant: str, lifecycles: Sequence[Lifecycle] = ()) -> Client:
        return Client(store, tenant=tenant, codec=self._codec, lifecycles=lifecycles)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """One at a time. On an event loop nobody blocks: who waits may be on the loop of who is at work."""
        while not self._busy.acquire(blocking=False):
            await sleep(TURN_S)
        try:
            yield
        finally:
            self._busy.release()

    def _notice_fork(self) -> None:
        """What was open belongs to the process before the fork. It is kept, so that nothing here closes it.

        A server can be connected to anew; a SQLite file cannot, and opening it says so.
        """
        if self._pid != os.getpid():
            self._inherited.append(self._client)
            self._pid, self._busy, self._client = os.getpid(), threading.Lock(), None
