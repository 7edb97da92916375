"""What every shape on a wire has in common, and how one is read: strictly, bounded, and with a stable code if not."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from detent.errors import InvalidArgument
from detent.kernel import Error
from detent.kernel.job import Blob
from detent.wire.bounds import MESSAGE_BYTES_MAX, clip


class Shape(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Written with every field, empty ones too, so that a reader need not guess; read without any other."""


class CamelShape(Shape, frozen=True, rename="camel"):
    """For documents that write jobId where we write job_id."""


S = TypeVar("S", bound=Shape)


def read(shape: type[S], data: bytes | Mapping[str, Any]) -> S:
    """From JSON, or from what a transport has decoded (and bounded) already."""
    if isinstance(data, bytes) and len(data) > MESSAGE_BYTES_MAX:
        raise InvalidArgument(
            f"{shape.__name__} has {len(data)} bytes; send at most {MESSAGE_BYTES_MAX}", code="message_too_large"
        )
    try:
        return msgspec.json.decode(data, type=shape) if isinstance(data, bytes) else msgspec.convert(data, shape)
    except msgspec.ValidationError as wrong:
        raise InvalidArgument(f"{shape.__name__}: {wrong}", code=_code(wrong)) from wrong
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
        raise InvalidArgument(f"{shape.__name__} is not JSON that can be read: {wrong}", code="bad_json") from wrong


def json_value(job_id: str, blob: Blob) -> Any:
    """A stored blob as plain data. The kernel never looks inside one, so only here can it turn out to be no JSON."""
    try:
        return msgspec.json.decode(blob)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
        raise InvalidArgument(f"the payload of job {job_id} is not JSON: {wrong}", code="payload_not_json") from wrong


def error_text(error: Error) -> str:
    """One line: what it was and what was said, such as `BAD_ASSET: corrupted_texture.png`."""
    name = error.code or error.type
    return clip(f"{name}: {error.message}" if error.message else name)


def _code(wrong: msgspec.ValidationError) -> str:
    return "unknown_field" if "unknown field" in str(wrong) else "invalid_argument"
