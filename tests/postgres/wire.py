"""PostgreSQL's messages on the wire, as far as the proxies have to understand them."""

import struct
from asyncio import StreamReader
from typing import Final, NamedTuple

PROTOCOL_3: Final = 3 << 16
CANCEL: Final = 80_877_102
SSL: Final = 80_877_103
GSS: Final = 80_877_104
NOT_OFFERED: Final = b"N"

# What a server answers each of them with, in the end, is READY.
ASKS_FOR_READY: Final = frozenset({b"Q", b"S", b"F"})
READY: Final = b"Z"
NOT_IN_TRANSACTION: Final = b"I"


class Message(NamedTuple):
    """One message; `type` is its letter. The one that opens a connection has none."""

    type: bytes
    payload: bytes

    def encoded(self) -> bytes:
        return self.type + struct.pack("!i", len(self.payload) + 4) + self.payload

    @property
    def code(self) -> int:
        """Of an opening message: what is asked for, or which protocol is spoken."""
        return int.from_bytes(self.payload[:4], "big")


async def read_message(reader: StreamReader) -> Message:
    type = await reader.readexactly(1)
    return Message(type, await _read_payload(reader))


async def read_opening(reader: StreamReader) -> Message:
    return Message(b"", await _read_payload(reader))


async def _read_payload(reader: StreamReader) -> bytes:
    (size,) = struct.unpack("!i", await reader.readexactly(4))
    return await reader.readexactly(size - 4)


def startup(parameters: dict[str, str]) -> Message:
    words = "".join(f"{name}\0{value}\0" for name, value in parameters.items())
    return Message(b"", struct.pack("!i", PROTOCOL_3) + words.encode() + b"\0")


def parameters_of(opening: Message) -> dict[str, str]:
    words = opening.payload[4:].rstrip(b"\0").decode().split("\0")
    return dict(zip(words[::2], words[1::2], strict=False))


def cancel(key: bytes) -> Message:
    return Message(b"", struct.pack("!i", CANCEL) + key)


def fatal(code: str, text: str) -> Message:
    fields = {"S": "FATAL", "V": "FATAL", "C": code, "M": text}
    return Message(b"E", "".join(f"{name}{value}\0" for name, value in fields.items()).encode() + b"\0")
