"""Schedules in JSON, and back to what a store keeps."""

from base64 import b64encode
from datetime import datetime
from typing import Any

from msgspec import Raw, Struct

from detent.kernel.job import NULL
from detent.wire.http.jobs import SEALED, opened_of, unsealed


class ScheduleShape(Struct, frozen=True, kw_only=True):
    """A job that the calendar asks for. `next_at` is the next tick, `last_at` the last one that somebody had.

    `sealed` is a payload that a codec has encrypted, in base64; it is null in its own place then.
    """

    name: str
    cron: str
    zone: str
    kind: str
    payload: Any
    digest: str
    next_at: datetime
    last_at: datetime | None
    paused_at: datetime | None
    paused_by: str | None
    paused_reason: str | None
    sealed: str | None = None


class ScheduleRecord(ScheduleShape, frozen=True, kw_only=True):
    """The same, as a client reads it: the payload is kept as the bytes that came."""

    payload: Raw


def payload_shape(kept: bytes) -> tuple[Raw, str | None]:
    """A payload as JSON; or, if only its owner can read it, as nothing and in base64."""
    opened = opened_of(kept)
    if opened.startswith(SEALED):
        return Raw(NULL), b64encode(opened).decode()
    return Raw(opened), None


def payload_of(shape: ScheduleRecord) -> bytes:
    return bytes(shape.payload) if shape.sealed is None else unsealed("payload", shape.sealed)
