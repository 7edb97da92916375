"""Moments are integers: microseconds since the epoch, UTC. Durations are in seconds. Nothing here reads a clock."""

from typing import Final

SECOND: Final = 1_000_000


def micros(seconds: float) -> int:
    return round(seconds * SECOND)


def earliest(*moments: int | None) -> int | None:
    """The first of those that are set. A plain loop: this is on the path of every decision."""
    first: int | None = None
    for moment in moments:
        if moment is not None and (first is None or moment < first):
            first = moment
    return first
