"""Lengths and moments of time in sentences for people: `17 min`, `03:31:53 UTC`."""

from datetime import UTC, datetime
from typing import Final

_UNITS: Final = ((172_800, 3_600, 86_400, "days"), (7_200, 60, 3_600, "h"), (120, 1, 60, "min"))


def span(seconds: float) -> str:
    """About how long: one unit, two digits that matter."""
    if seconds < 0:
        return f"-{span(-seconds)}"
    for least, finer, unit, name in _UNITS:
        if round(seconds / finer) * finer >= least:  # as it would be said: 119.9 min are 2 h, and not 120 min
            return f"{seconds / unit:.0f} {name}"
    if seconds >= 10:
        return f"{seconds:.0f} s"
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds * 1_000:.0f} ms"


def between(start: datetime, end: datetime) -> str:
    return span((end - start).total_seconds())


def moment(when: datetime, now: datetime) -> str:
    """To the second, with the day where it is another one than today."""
    utc = when.astimezone(UTC)
    is_today = utc.date() == now.astimezone(UTC).date()
    return f"{utc:%H:%M:%S} UTC" if is_today else f"{utc:%Y-%m-%d %H:%M:%S} UTC"
