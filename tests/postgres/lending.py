"""Who has which connection to the server: the bookkeeping of pooler.py, which moves the messages."""

import asyncio
from asyncio import StreamReader, StreamWriter
from typing import Final

from tests.postgres import wire
from tests.postgres.wire import Message

# After these, a server keeps what it was told until it is asked to be ready again.
KEEPS_OPEN: Final = frozenset({b"P", b"B", b"D", b"E", b"C", b"H"})
COPIED: Final = frozenset({b"d", b"c", b"f"})
ERROR: Final = b"E"
KEY: Final = b"K"


class LoginRefused(Exception):
    """The server does not want this client; `answer` says why."""

    def __init__(self, answer: Message) -> None:
        super().__init__(answer.payload)
        self.answer = answer


class Client:
    """A connection to the pooler."""

    def __init__(self, writer: StreamWriter, key: bytes) -> None:
        self.writer = writer
        self.key = key  # what it would cancel with
        self.backend: Backend | None = None
        self._answers_owed = 0
        self._is_mid_request = False

    def asks(self, message: Message) -> None:
        if message.type in wire.ASKS_FOR_READY:
            self._answers_owed += 1
            self._is_mid_request = False
        elif message.type in KEEPS_OPEN:
            self._is_mid_request = True

    def is_done_with(self, answer: Message) -> bool:
        """Does its transaction end here, with nothing asked that is still to be answered?"""
        if answer.type != wire.READY:
            return False
        self._answers_owed -= 1
        return self._answers_owed == 0 and not self._is_mid_request and answer.payload == wire.NOT_IN_TRANSACTION


class Backend:
    """A connection to the server, and who has it at the moment."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.client: Client | None = None
        self.is_alive = True
        self.greeting: list[Message] = []
        self.key = b""

    async def log_in(self, parameters: dict[str, str]) -> None:
        self.writer.write(wire.startup(parameters).encoded())
        while (message := await wire.read_message(self.reader)).type != wire.READY:
            if message.type == ERROR:
                raise LoginRefused(message)
            if message.type == KEY:
                self.key = message.payload
            else:
                self.greeting.append(message)


class Pool:
    """The connections for clients that introduced themselves with the same parameters. A free place may be empty."""

    def __init__(self, parameters: dict[str, str], places: int) -> None:
        self.parameters = parameters
        self._free: asyncio.Queue[Backend | None] = asyncio.Queue()
        for _ in range(places):
            self._free.put_nowait(None)

    async def place(self) -> Backend | None:
        """The place that has been free for longest, once there is one, and the connection that is still in it."""
        backend = await self._free.get()
        return backend if backend is not None and backend.is_alive else None

    def lend(self, backend: Backend, client: Client) -> None:
        backend.client, client.backend = client, backend

    def take_back(self, backend: Backend) -> None:
        if backend.client is not None:
            backend.client.backend = None
        backend.client = None
        self._free.put_nowait(backend)

    def give_up(self) -> None:
        """The place that was taken stays empty."""
        self._free.put_nowait(None)
