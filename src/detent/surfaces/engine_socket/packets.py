"""How messages are written: JSON text within bounds. What came is anybody's, and may be anything."""

from typing import Any, Final

import msgspec
from socketio.packet import Packet

_BINARY: Final = ("5", "6")


class Json:
    """What Socket.IO reads and writes JSON with. It knows no NaN, and no depth that ends the process."""

    @staticmethod
    def dumps(value: Any, **_: Any) -> str:
        return msgspec.json.encode(value).decode()

    @staticmethod
    def loads(text: str, **_: Any) -> Any:
        try:
            return msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise ValueError("a message is not JSON that can be read") from None


class TextPacket(Packet):  # type: ignore[misc]  # the library has no types
    """Without attachments: they would be collected for as long as somebody sends them, whoever that is."""

    def decode(self, encoded_packet: Any) -> int:
        if not isinstance(encoded_packet, str) or encoded_packet.startswith(_BINARY):
            raise ValueError("messages are text here")
        count: int = super().decode(encoded_packet)
        return count
