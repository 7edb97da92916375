"""Live events over HTTP: what the hub hands out, as server-sent events, with a sign of life when there is nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from detent.errors import DetentError, Unauthorized
from detent.store.clock import host_clock
from detent.store.waiting import now_s
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.live import Ended, Filters, Reader

EVENT_STREAM: Final = "text/event-stream"
RETRY_MS: Final = 1_000  # after which a reader that was cut off comes again


async def stream(ask: Ask, filters: dict[str, str], after: str | None) -> Response:
    """Begun before it is answered: a cursor that is none is said with a status, and not in the middle."""
    service, tenant = ask.service, ask.grant.tenant
    async with AsyncExitStack() as stack:
        stack.enter_context(service.streaming.taken(tenant))
        reader = await stack.enter_async_context(service.hubs.reader(tenant, Filters(**filters), after))
        return Stream(ask, reader, stack.pop_all())


class Stream(Response):
    """Until the reader goes, is cut off, or its token is good no more."""

    media_type = EVENT_STREAM

    def __init__(self, ask: Ask, reader: Reader, stack: AsyncExitStack) -> None:
        super().__init__(headers={"x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._ask = ask
        self._reader = reader
        self._stack = stack
        self._heartbeat_s = ask.service.settings.heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._stack:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            sending = asyncio.ensure_future(self._sent(send))
            gone = asyncio.ensure_future(self._ask.gone())
            try:
                await asyncio.wait((sending, gone), return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in (sending, gone):
                    each.cancel()
                ended, _ = await asyncio.gather(sending, gone, return_exceptions=True)
            if isinstance(ended, Exception):
                raise ended

    async def _sent(self, send: Send) -> None:
        """A reader that takes nothing holds up itself alone. How long its connection lasts is for the server to say."""
        async for part in self._parts():
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _parts(self) -> AsyncIterator[bytes]:
        """The place comes first: who is cut off before the first event resumes from where it began."""
        yield b"retry: %d\nid: %s\n: from here on\n\n" % (RETRY_MS, self._reader.cursor.encode())
        seen_s = now_s()
        while True:
            batch = await self._reader.batch(self._heartbeat_s)
            if isinstance(batch, Ended):
                yield b"id: %s\n: %s\n\n" % (batch.cursor.encode(), batch.reason.encode())
                return
            # Also while events come without a pause: a token that was taken away must not go on reading for it.
            if now_s() - seen_s >= self._heartbeat_s or not batch:
                seen_s = now_s()
                if not await self._is_still_let_in():
                    yield b": the token is good no more\n\n"
                    return
            # The place goes on, also when nothing of interest happens: so a resume has little to read.
            still_here = b"id: %s\n: still here\n\n" % self._reader.cursor.encode()
            yield b"".join([item.data for item in batch]) if batch else still_here

    async def _is_still_let_in(self) -> bool:
        """A store that does not answer just now takes nobody's token away; its time is over all the same."""
        try:
            await self._ask.look_again()
        except Unauthorized:
            return False
        except DetentError:
            return not self._ask.grant.is_over(host_clock())
        return True
