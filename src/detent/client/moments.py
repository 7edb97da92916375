"""Moments at the client are datetimes with a zone; inside they are microseconds since the epoch."""

from datetime import datetime

from detent.errors import InvalidArgument, shown
from detent.wire.moments import micros_of, to_moment, to_moment_or_none

__all__ = ["to_micros", "to_micros_or_none", "to_moment", "to_moment_or_none"]


def to_micros(name: str, moment: datetime) -> int:
    if not isinstance(moment, datetime):
        raise InvalidArgument(f"{name} is {shown(moment)}; give a datetime with a time zone", code="bad_moment")
    if moment.tzinfo is None:
        raise InvalidArgument(f"{name} has no time zone; use datetime.now(UTC) or the like", code="bad_moment")
    return micros_of(moment)


def to_micros_or_none(name: str, moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(name, moment)
