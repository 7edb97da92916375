"""Fingerprints: the log keeps digests where the record keeps values, so that a replay can be compared without them."""

import hashlib
from typing import Final

import msgspec

_encoder: Final = msgspec.json.Encoder(order="deterministic")


_NULL: Final = b"null"
_NULL_DIGEST: Final = hashlib.blake2b(_NULL, digest_size=16).hexdigest()


def digest(data: bytes) -> str:
    if data == _NULL:  # most jobs have no result, many no payload
        return _NULL_DIGEST
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def digest_of(value: object) -> str:
    return digest(_encoder.encode(value))


def derived_id(*parts: object) -> str:
    """An id that follows from its parts: the same cause names the same job on every store and in every replay."""
    return digest("\x1f".join(str(part) for part in parts).encode())
