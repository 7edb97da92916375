"""From a value to the bytes a store keeps, and back: JSON, bounded, compressed and encrypted where that is wanted."""

import zlib
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from math import inf
from typing import Any, Final

import msgspec

from detent.errors import InvalidArgument, shown
from detent.kernel.digest import digest
from detent.kernel.job import NULL
from detent.lifecycle.bounds import check_whole

Transform = Callable[[bytes], bytes]
BYTES_MAX: Final = 1_048_576
BYTES_MOST: Final = 1_000_000_000  # of one value: what SQLite can keep in a column
_EMPTY: Final = (b"{}", b"[]", b'""', b"0", b"true", b"false")
DEPTH_MAX: Final = 200
# No JSON text begins like this, so that what was made with one codec can be told from the others.
_COMPRESSED: Final = b"\x00z"
_ENCRYPTED: Final = b"\x00e"
_SEALED_MAX: Final = 2  # times what is allowed: to encrypt makes it longer
_INFLATED_MAX: Final = 64  # times what is allowed: a larger one is a bomb


class Kept(bytes):
    """A value as a store keeps it already: what somebody else's codec has sealed is not to be sealed again."""


class Codec:
    """How payloads, results and checkpoints are kept.

    `bytes_max` bounds each of them as JSON. `compress_over`: those longer than so many bytes are compressed.
    `encrypt` and `decrypt` are yours: each takes bytes and returns bytes, and they undo each other. Both of a pair are
    needed; a client without them can move such jobs, but not read what they hold.
    """

    def __init__(
        self,
        *,
        bytes_max: int = BYTES_MAX,
        compress_over: int | None = None,
        encrypt: Transform | None = None,
        decrypt: Transform | None = None,
    ) -> None:
        if (encrypt is None) != (decrypt is None):
            raise InvalidArgument("encrypt and decrypt come together; give both or neither")
        if encrypt is not None and not (callable(encrypt) and callable(decrypt)):
            raise InvalidArgument("encrypt and decrypt are functions from bytes to bytes")
        check_whole("bytes_max", bytes_max, least=1, most=BYTES_MOST)
        if compress_over is not None:
            check_whole("compress_over", compress_over, least=0, most=BYTES_MOST)
        self._bytes_max = bytes_max
        self._compress_over = compress_over
        self._encrypt = encrypt
        self._decrypt = decrypt
        self._encoder = msgspec.json.Encoder()
        self.is_sealing = encrypt is not None  # the same value may become other bytes each time

    def encode(self, value: Any, what: str = "payload") -> bytes:
        if value is None:
            return NULL
        if type(value) is Kept:
            return self._bounded(bytes(value), what, _SEALED_MAX * self._bytes_max)
        encoded = self._json(value, what)
        self._bounded(encoded, what, self._bytes_max)
        if self._compress_over is not None and len(encoded) > self._compress_over:
            encoded = _COMPRESSED + zlib.compress(encoded)
        return encoded if self._encrypt is None else _ENCRYPTED + self._encrypted(encoded, self._encrypt)

    def _bounded(self, encoded: bytes, what: str, most: int) -> bytes:
        if len(encoded) > most:
            message = f"{what} has {len(encoded)} bytes; at most {most} are kept"
            raise InvalidArgument(f"{message}. Keep it elsewhere and pass a pointer", code="value_too_large")
        return encoded

    def digest(self, values: list[Any]) -> str:
        """Of values as they are before they are sealed."""
        return digest(b"\n".join(self._json(value, "value") for value in values))

    def decode(self, kept: bytes, what: str = "payload") -> Any:
        if kept == NULL:
            return None
        try:
            return msgspec.json.decode(self._opened(kept, what))
        except (msgspec.DecodeError, zlib.error, RecursionError) as error:
            raise unreadable(what, str(error)) from error

    def _opened(self, kept: bytes, what: str) -> bytes:
        if kept.startswith(_ENCRYPTED):
            if self._decrypt is None:
                raise unreadable(what, "it is encrypted, and this client has no decrypt=")
            kept = self._decrypted(kept[len(_ENCRYPTED) :], self._decrypt, what)
        if not kept.startswith(_COMPRESSED):
            return kept
        inflater = zlib.decompressobj()
        opened = inflater.decompress(kept[len(_COMPRESSED) :], max(self._bytes_max, BYTES_MAX) * _INFLATED_MAX)
        if inflater.unconsumed_tail:
            raise unreadable(what, "it inflates to more than could have been kept")
        return opened

    def _decrypted(self, kept: bytes, decrypt: Transform, what: str) -> bytes:
        try:
            opened = decrypt(kept)
        except Exception as error:  # the user's own function: whatever it raises means that it cannot
            raise unreadable(what, f"decrypt= failed ({type(error).__name__}: {error})") from error
        if not isinstance(opened, bytes):
            raise unreadable(what, f"decrypt= returned {shown(opened)}, and not bytes")
        return opened

    def _encrypted(self, encoded: bytes, encrypt: Transform) -> bytes:
        try:
            sealed = encrypt(encoded)
        except Exception as error:  # the user's own function; one item's trouble is not the whole batch's
            raise InvalidArgument(f"encrypt= failed ({type(error).__name__}: {error})") from error
        if not isinstance(sealed, bytes):
            raise InvalidArgument(f"encrypt= returned {shown(sealed)}; it has to return bytes")
        return sealed

    def _json(self, value: Any, what: str) -> bytes:
        try:
            encoded = self._encoder.encode(value)
        except RecursionError:
            raise too_deep(what) from None
        except (TypeError, ValueError, OverflowError, msgspec.MsgspecError) as error:
            message = f"{what} is not JSON: {error}; use dicts, lists, strings, numbers, booleans and None"
            raise InvalidArgument(message, code="value_not_json") from error
        if encoded not in _EMPTY:
            check_value(value, what)
        return encoded


def check_value(value: Any, what: str) -> None:
    """Refuse what would come back as something else, and nesting that a reader could stumble over.

    The encoder writes NaN as null, bytes as text, a set as a list and the number 1 as the key "1": each is quietly
    another value. Level by level: no recursion.
    """
    level = [value]
    for _ in range(DEPTH_MAX + 1):
        for each in level:
            lost = _lost(each)
            if lost is not None:
                found, remedy = lost
                message = f"{what} holds {found}, which JSON has no word for; use {remedy}"
                raise InvalidArgument(message, code="value_not_json")
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return
    raise too_deep(what)


def _lost(value: Any) -> tuple[str, str] | None:
    """What JSON would quietly make something else of, and what to use instead."""
    if isinstance(value, float) and (value != value or value in (inf, -inf)):
        return str(value), "None or a string"
    if isinstance(value, bytes | bytearray | memoryview | set | frozenset | msgspec.Raw):
        return f"a {type(value).__name__}", "a string or a list"
    if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
        return "keys that are no strings", "strings"
    return None


def too_deep(what: str) -> InvalidArgument:
    return InvalidArgument(f"{what} is nested more than {DEPTH_MAX} deep; flatten it", code="value_too_deep")


def unreadable(what: str, why: str) -> InvalidArgument:
    return InvalidArgument(f"{what} cannot be read: {why}", code="value_unreadable")


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, msgspec.Struct):
        return [getattr(value, name) for name in value.__struct_fields__]
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, each.name, None) for each in fields(value)]
    return ()
