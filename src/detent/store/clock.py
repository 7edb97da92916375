"""Where the clock is read and dice are thrown, for everything that runs."""

import random
import time
from collections.abc import Callable

Clock = Callable[[], int]
Random = Callable[[], float]


def host_clock() -> int:
    """Now, in microseconds since the epoch."""
    return time.time_ns() // 1_000


def host_random() -> float:
    return random.random()


def new_id() -> str:
    """An id that nobody has. It begins with the time, so that an index of ids grows at one end."""
    return f"{time.time_ns() // 1_000_000:012x}{random.getrandbits(80):020x}"
