"""Who sent a packet: its signature by elliptic curves (ECDSA over SHA-256), and whose keys are known."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from detent.errors import InvalidArgument
from detent.surfaces.bus.schema import SIGNATURE

_HOW: Final = ECDSA(SHA256())
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


class Keys:
    """`own` signs what is sent. With `known`, by the ids of senders, only what one of them signed is believed."""

    def __init__(
        self,
        own: EllipticCurvePrivateKey | None = None,
        known: Mapping[str, EllipticCurvePublicKey] | None = None,
    ) -> None:
        self._own = own
        self._known = known
        self.is_checking = known is not None

    def sign(self, packet: bytes) -> bytes | None:
        """Of a packet that is not signed yet. None: nothing is signed here."""
        return None if self._own is None else self._own.sign(packet, _HOW)

    def check(self, packet: bytes, sender_id: str, signature: bytes) -> None:
        if self._known is None:
            return
        key = self._known.get(sender_id)
        if key is None:
            raise InvalidArgument(f"no key of sender {sender_id[:64]!r} is known here", code="bad_signature")
        if not signature:
            raise InvalidArgument(f"a packet of sender {sender_id[:64]!r} is not signed", code="bad_signature")
        try:
            key.verify(signature, unsigned(packet), _HOW)
        except InvalidSignature:
            message = f"a packet that claims to be of sender {sender_id[:64]!r} was signed by somebody else, or changed"
            raise InvalidArgument(message, code="bad_signature") from None


def unsigned(packet: bytes) -> bytes:
    """The packet as it was signed: without its signature, and otherwise to the byte, also what is not understood."""
    kept, place = bytearray(), 0
    while place < len(packet):
        begin = place
        tag, place = _varint(packet, place)
        place = _past(packet, place, tag & 7)
        if tag >> 3 != SIGNATURE:
            kept += packet[begin:place]
    return bytes(kept)


def _past(packet: bytes, place: int, kind: int) -> int:
    if kind == _VARINT:
        return _varint(packet, place)[1]
    if kind == _LENGTH:
        length, place = _varint(packet, place)
        return place + length
    if kind in (_FIXED64, _FIXED32):
        return place + (8 if kind == _FIXED64 else 4)
    raise InvalidArgument("a packet has a field of a kind that there is not", code="bad_packet")


def _varint(packet: bytes, place: int) -> tuple[int, int]:
    value, shift = 0, 0
    while place < len(packet) and shift < 64:
        byte = packet[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
    raise InvalidArgument("a packet ends in the middle of a number", code="bad_packet")


def private_key(path: Path) -> EllipticCurvePrivateKey:
    key = _loaded(path, lambda text: load_pem_private_key(text, password=None))
    if not isinstance(key, EllipticCurvePrivateKey):
        raise InvalidArgument(f"the key in '{path}' is not one of an elliptic curve", code="bad_key")
    return key


def public_key(path: Path) -> EllipticCurvePublicKey:
    key = _loaded(path, load_pem_public_key)
    if not isinstance(key, EllipticCurvePublicKey):
        raise InvalidArgument(f"the public key in '{path}' is not one of an elliptic curve", code="bad_key")
    return key


def _loaded(path: Path, read: Callable[[bytes], object]) -> object:
    try:
        return read(path.read_bytes())
    except OSError as error:
        raise InvalidArgument(f"no key can be read from '{path}': {error.strerror}", code="bad_key") from None
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise InvalidArgument(
            f"'{path}' holds no key in PEM, or one with a password: {error}", code="bad_key"
        ) from None
