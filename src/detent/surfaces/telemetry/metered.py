"""A store that counts what is asked of it, and is otherwise the store that it was made around."""

from collections.abc import Awaitable, Iterable, Sequence
from typing import Any, TypeVar, cast

from detent.errors import DetentError
from detent.kernel import Job
from detent.lifecycle import Lifecycle
from detent.store import ClaimRequest, Replies, Reply, Request, Store
from detent.store.protocol import Transaction
from detent.surfaces.telemetry.meter import Meter

Result = TypeVar("Result")


def metered(store: Store, meter: Meter) -> Store:
    """The same store, and whatever goes through it is counted. Make the clients of a service with it."""
    return cast(Store, _Metered(store, meter))


class _Metered:
    """Only what moves jobs is here; everything else is handed on as it is, the store's own transactions included.

    What is asked with `tx=` counts when it is answered, though the caller may yet roll it back.
    """

    def __init__(self, store: Store, meter: Meter) -> None:
        self._store = store
        self._meter = meter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def register(self, *lifecycles: Lifecycle) -> list[Lifecycle]:
        kept = await self._answered(self._store.register(*lifecycles))
        self._meter.learn(kept)
        return kept

    async def apply(self, requests: Sequence[Request], tx: Transaction | None = None) -> Replies:
        replies = await self._answered(self._store.apply(requests, tx))
        return await self._counted([request.command.verb for request in requests], replies)

    async def claim(self, request: ClaimRequest, tx: Transaction | None = None) -> Replies:
        replies = await self._answered(self._store.claim(request, tx))
        self._meter.claimed(replies)
        return replies

    async def reconcile(self, limit: int) -> Replies:
        replies = await self._answered(self._store.reconcile(limit))
        await self._learn(reply.job for reply in replies if isinstance(reply, Reply))
        self._meter.reconciled(replies)
        return replies

    async def pace(self, tenant: str, rule: str, every: int, requests: Sequence[Request]) -> Replies:
        """All of them are the same verdict; those that came too late are not answered."""
        replies = await self._answered(self._store.pace(tenant, rule, every, requests))
        return await self._counted([request.command.verb for request in requests[: len(replies)]], replies)

    async def advance_schedule(
        self, tenant: str, name: str, *, expected: int, next_at: int, requests: Sequence[Request] = ()
    ) -> Replies | None:
        advanced = self._store.advance_schedule(tenant, name, expected=expected, next_at=next_at, requests=requests)
        replies = await self._answered(advanced)
        return replies and await self._counted([request.command.verb for request in requests], replies)

    async def _answered(self, call: Awaitable[Result]) -> Result:
        try:
            return await call
        except DetentError as error:
            self._meter.failed(error)
            raise

    async def _counted(self, verbs: Sequence[str], replies: Replies) -> Replies:
        await self._learn(reply.job for reply in replies if isinstance(reply, Reply))
        for verb, reply in zip(verbs, replies, strict=True):
            if isinstance(reply, Reply):
                self._meter.answered(verb, reply)
            else:
                self._meter.refused(verb, reply)
        return replies

    async def _learn(self, jobs: Iterable[Job]) -> None:
        """Ask for lifecycles that another process has registered. What was written stands, even if that fails."""
        if all(map(self._meter.knows, jobs)):
            return
        try:
            await self.register()
        except DetentError:
            return  # it is counted, and asked again with the next job of that lifecycle
