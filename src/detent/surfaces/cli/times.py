"""Times as people say them: `3 min ago`, `in 12 s`, `1.4 s`; and as they write them: `90s`, `15m`, `2h`, `7d`."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from detent.client import spoken

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_WRITTEN: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*(ms|s|m|h|d|w)?")
# Stands for the blank between a number and its unit until lines are broken: rich breaks them at any blank there is,
# also at those that are meant to join. Nobody's text has it: `clean` spells it out.
JOINT: Final = "\ue000"
_PARTED: Final = re.compile(r"(?<=[0-9]) (?=(?:ms|s|min|h|days|UTC)\b)")


def unparted(text: str) -> str:
    """Text whose numbers stay with their units, however it is wrapped."""
    return _PARTED.sub(JOINT, text)


def span(seconds: float) -> str:
    """About how long: one unit, two digits that matter."""
    return spoken.span(seconds)


def relative(moment: datetime | None, now: datetime) -> str:
    """`3 min ago` or `in 12 s`; nothing for no moment."""
    if moment is None:
        return ""
    seconds = (moment - now).total_seconds()
    return f"in {span(seconds)}" if seconds > 0 else f"{span(abs(seconds))} ago"


def between(start: datetime, end: datetime) -> str:
    return span((end - start).total_seconds())


def clock(moment: datetime) -> str:
    """The time of day in UTC, to the millisecond."""
    return f"{moment.astimezone(UTC):%H:%M:%S}.{moment.microsecond // 1_000:03d}"


def day(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d}"


def moment(when: datetime, now: datetime) -> str:
    """The time of day, with the day where it is another one than today."""
    return f"{clock(when)} UTC" if day(when) == day(now) else full(when)


def full(moment: datetime) -> str:
    return f"{day(moment)} {clock(moment)} UTC"


def seconds_of(written: str) -> float | None:
    """`90`, `90s`, `15m`, `1.5h`, `7d`, `250ms`: seconds. None: it is not written like that."""
    match = _WRITTEN.fullmatch(written.strip())
    if match is None:
        return None
    number, unit = float(match[1]), match[2] or "s"
    return number / 1_000 if unit == "ms" else number * _UNITS[unit]


def moment_of(written: str, now: datetime) -> datetime | None:
    """A moment in ISO 8601 (without a zone: UTC), or how long ago: `15m`, `15m ago`. None: it is neither."""
    bare = written.strip()
    # A number alone is a date without hyphens, or a slip; so long ago has a unit.
    ago_s = None if bare.isdigit() else seconds_of(bare.removesuffix(" ago"))
    try:
        return instant_of(written) if ago_s is None else now - timedelta(seconds=ago_s)
    except OverflowError:  # before the first year there is
        return None


def instant_of(written: str) -> datetime | None:
    """A moment in ISO 8601 (without a zone: UTC). None: it is none."""
    try:
        moment = datetime.fromisoformat(written)
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):  # the second: in UTC it would be in no year there is
        return None
