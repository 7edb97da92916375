"""How messages are written: JSON text within bounds. What came is anybody's, and may be anything."""

from typing import Any, Final

import msgspec
from socketio.packet import BINARY_ACK, BINARY_EVENT, EVENT, Packet

ATTACHED: Final = object()  # in the place of what came with attachments, which nobody has read


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
    """Without attachments: they would be collected for as long as somebody sends them, whoever that is. A message that
    has some comes through without what it says, so that it can be refused; the attachments themselves do not.
    """

    packet_type: int
    data: Any

    def decode(self, encoded_packet: Any) -> int:
        if not isinstance(encoded_packet, str):
            raise ValueError("messages are text here")
        super().decode(encoded_packet)
        if self.packet_type == BINARY_ACK:
            raise ValueError("answers are text here")
        if self.packet_type == BINARY_EVENT:
            if not isinstance(self.data, list) or not self.data:
                raise ValueError("a message has a name")
            self.packet_type, self.data = EVENT, [self.data[0], ATTACHED]
        return 0
