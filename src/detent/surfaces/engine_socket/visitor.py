"""Somebody who is connected and was let in: as an engine, to watch, or both."""

import asyncio
from typing import Final

from detent.client import Client
from detent.surfaces.http.grants import Grant
from detent.surfaces.http.service import Service

CHECK_S: Final = 10.0  # after so long its token is looked at again


class Visitor:
    """`text` is the token that it presented."""

    def __init__(self, sid: str, service: Service, grant: Grant, text: str | None) -> None:
        self.sid = sid
        self.grant = grant
        self.watching: asyncio.Task[None] | None = None
        self.is_gone = False
        self._service = service
        self._text = text
        self.since_s = self._checked_s = asyncio.get_running_loop().time()

    @property
    def client(self) -> Client:
        return self._service.client_of(self.grant.tenant)

    async def check(self) -> None:
        """`Unauthorized`, if its token is good no more. It is looked at now and then."""
        now_s = asyncio.get_running_loop().time()
        if now_s - self._checked_s >= CHECK_S:
            await self._service.door.look_again_at(self._text)
            self._checked_s = now_s

    def take_turn(self) -> None:
        """Its messages count like requests."""
        self._service.door.take_turn(self._text)

    def stop_watching(self) -> None:
        if self.watching is not None:
            self.watching.cancel()
            self.watching = None
