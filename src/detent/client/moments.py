"""Moments at the client are datetimes with a zone; inside they are microseconds since the epoch."""

from datetime import UTC, datetime, timedelta
from typing import Final

from detent.errors import InvalidArgument, shown

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LAST: Final = datetime.max.replace(tzinfo=UTC)
_END: Final = (_LAST - _EPOCH) // _MICROSECOND


def to_moment(micros: int) -> datetime:
    """Beyond the year 9999, which Python's calendar does not go, its last moment."""
    return _EPOCH + timedelta(microseconds=micros) if micros < _END else _LAST


def to_moment_or_none(micros: int | None) -> datetime | None:
    return None if micros is None else to_moment(micros)


def to_micros(name: str, moment: datetime) -> int:
    if not isinstance(moment, datetime):
        raise InvalidArgument(f"{name} is {shown(moment)}; give a datetime with a time zone", code="bad_moment")
    if moment.tzinfo is None:
        raise InvalidArgument(f"{name} has no time zone; use datetime.now(UTC) or the like", code="bad_moment")
    return (moment - _EPOCH) // _MICROSECOND


def to_micros_or_none(name: str, moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(name, moment)
