"""A packet: its envelope, its one message, and what makes it one that can be believed."""

from time import time
from typing import Any, Final

from google.protobuf.message import DecodeError
from google.protobuf.timestamp_pb2 import Timestamp
from msgspec import Struct

from detent.client.arguments import is_name
from detent.errors import InvalidArgument
from detent.surfaces.bus.schema import MESSAGES
from detent.surfaces.bus.signing import Keys
from detent.wire.bounds import MESSAGE_BYTES_MAX

VERSION: Final = 1  # of the protocol
NEWS_S: Final = 60.0  # by whatever clock the sender has
NEWS: Final = ("heartbeat", "handshake")
# Whose message it is has to be who sent the packet.
_SENDERS: Final = {"job_result": "worker_id", "heartbeat": "worker_id", "handshake": "component_id"}


class Packet(Struct, frozen=True):
    """`kind` is the name of its message, such as `job_request`."""

    trace_id: str
    sender_id: str
    kind: str
    message: Any


def message(name: str, **fields: Any) -> Any:
    """A new one. What is None is left out."""
    return MESSAGES[name](**{field: value for field, value in fields.items() if value is not None})


def read(data: bytes, keys: Keys) -> Packet:
    """What came over the bus, if it is whole, of this protocol, and of the sender it names."""
    if len(data) > MESSAGE_BYTES_MAX:
        raise _bad(f"it has {len(data)} bytes, and may have {MESSAGE_BYTES_MAX}")
    packet = MESSAGES["BusPacket"]()
    try:
        packet.ParseFromString(data)
    except DecodeError:
        raise _bad("it is no BusPacket") from None
    kind = packet.WhichOneof("payload")
    if packet.protocol_version != VERSION:
        raise _bad(f"it is of version {packet.protocol_version}, and this is version {VERSION}")
    if kind is None:
        raise _bad("it holds no message that is understood here")
    if not (is_name(packet.sender_id) and packet.trace_id and packet.HasField("created_at")):
        raise _bad("it lacks its sender_id, trace_id or created_at, or its sender_id cannot be kept")
    held = getattr(packet, kind)
    # The protocol wants it so, and then a signature speaks for both.
    if kind in _SENDERS and getattr(held, _SENDERS[kind]) != packet.sender_id:
        raise _bad(f"its {kind} has to have its sender_id '{packet.sender_id[:64]}' for its {_SENDERS[kind]}")
    keys.check(data, packet.sender_id, packet.signature)
    if keys.is_checking and kind in NEWS and abs(time() - packet.created_at.seconds) > NEWS_S:
        raise _bad(f"it says who is there, and is more than {NEWS_S:g} s old")  # a signed one could be sent again
    return Packet(packet.trace_id, packet.sender_id, kind, held)


def write(packet: Packet, keys: Keys) -> bytes:
    """Signed, if there is a key for that."""
    now = Timestamp()
    now.GetCurrentTime()
    made = MESSAGES["BusPacket"](trace_id=packet.trace_id, sender_id=packet.sender_id, protocol_version=VERSION)
    made.created_at.seconds, made.created_at.nanos = now.seconds, now.nanos
    getattr(made, packet.kind).CopyFrom(packet.message)
    signature = keys.sign(_bytes(made))
    if signature is not None:
        made.signature = signature
    return _bytes(made)


def _bytes(made: Any) -> bytes:
    data: bytes = made.SerializeToString(deterministic=True)
    return data


def _bad(why: str) -> InvalidArgument:
    return InvalidArgument(f"a packet cannot be read: {why}", code="bad_packet")
