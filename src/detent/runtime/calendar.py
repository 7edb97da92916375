"""Reading cron expressions: when the next tick comes, and which was the last. Times come in, nothing here has a clock.

A zone that puts its clocks forward or back is treated as Debian's cron does it: a tick at a fixed time that the
clock skips comes right after the gap, one in an hour that comes twice comes once; what ticks every hour or more often
goes on by the minutes that pass.
"""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from detent.errors import InvalidArgument, shown

UTC_ZONE: Final = "UTC"
_SECOND: Final = timedelta(seconds=1)
_ANY_DAY: Final = datetime(2000, 1, 1, tzinfo=UTC)


def tick_after(cron: str, zone: str, moment: datetime) -> datetime:
    """The first tick that is later."""
    return next(CronSim(cron, moment.astimezone(zone_of(zone)))).astimezone(UTC)


def last_tick(cron: str, zone: str, moment: datetime) -> datetime:
    """The latest tick that is not later."""
    beyond = (
        moment.astimezone(zone_of(zone)).replace(microsecond=0) + _SECOND
    )  # looking back leaves out where it begins
    return next(CronSim(cron, beyond, reverse=True)).astimezone(UTC)


def check_cron(cron: str, zone: str) -> None:
    """An expression that cannot be read, or whose day never comes, is told of where it is written."""
    zone_of(zone)
    try:
        tick_after(cron, zone, _ANY_DAY)
    except CronSimError as error:
        raise InvalidArgument(f"cron is {shown(cron)}; {str(error).lower()}: it cannot be read") from None
    except StopIteration:
        raise InvalidArgument(f"cron is {shown(cron)}; such a day never comes") from None


def zone_of(name: str) -> tzinfo:
    if name == UTC_ZONE:
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # there is none of that name; it can be none; it is a folder
        raise _no_zone(name) from None


def _no_zone(name: str) -> InvalidArgument:
    message = f"zone is {shown(name)}, which this machine's time zone data does not have"
    return InvalidArgument(f"{message}; give a name such as Europe/Berlin, or install the package tzdata")
