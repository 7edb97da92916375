"""Moments on the wire. The kernel counts microseconds since the epoch; documents write RFC 3339 or milliseconds, and
programs have datetimes.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final, TypeVar

from detent.errors import InvalidArgument

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
MICROS_PER_MILLI: Final = 1_000
LAST: Final = datetime.max.replace(tzinfo=UTC)
_END: Final = (LAST - EPOCH) // MICROSECOND
# datetime.fromisoformat reads far more than RFC 3339 has; this lets nothing else through to it.
RFC_3339: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)

# Jobs of one transaction share most of their moments, and making one of them takes longer than all else about a job.
_MOMENTS_MAX: Final = 4_096

T = TypeVar("T")


def to_rfc3339(moment: int) -> str:
    """In UTC and always with six digits of a second, so that the order of the text is the order of time."""
    try:
        shown = EPOCH + timedelta(microseconds=moment)
    except OverflowError as wrong:
        raise _bad(f"{moment} µs since 1970 is beyond the years 1 to 9999 that RFC 3339 can write") from wrong
    return shown.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def from_rfc3339(text: str) -> int:
    if not RFC_3339.fullmatch(text):
        raise _bad(f"{text[:64]!r} is not RFC 3339 with an offset; write it like 2025-02-01T16:00:00.000000Z")
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError as wrong:
        raise _bad(f"{text!r} names no moment: {wrong}") from wrong
    return (moment - EPOCH) // MICROSECOND


@lru_cache(_MOMENTS_MAX)
def to_moment(micros: int) -> datetime:
    """Beyond the year 9999, which Python's calendar does not go, its last moment."""
    return EPOCH + timedelta(microseconds=micros) if micros < _END else LAST


def to_moment_or_none(micros: int | None) -> datetime | None:
    return None if micros is None else to_moment(micros)


def micros_of(moment: datetime) -> int:
    return (moment - EPOCH) // MICROSECOND


def micros_of_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - EPOCH) // MICROSECOND


def to_millis(moment: int) -> int:
    return moment // MICROS_PER_MILLI


def if_set(write: Callable[[int], T], moment: int | None) -> T | None:
    """A moment that has not come yet is written as null."""
    return None if moment is None else write(moment)


def _bad(message: str) -> InvalidArgument:
    return InvalidArgument(message, code="bad_moment")
