"""Where the clock is read and dice are thrown, for everything that runs."""

import os
import time
from collections.abc import Callable
from random import Random as Generator
from typing import Final

Clock = Callable[[], int]
Random = Callable[[], float]


def host_clock() -> int:
    """Now, in microseconds since the epoch."""
    return time.time_ns() // 1_000


# Our own, so that a program which seeds Python's draws what it expects, and so do we.
_dice: Final = Generator()
os.register_at_fork(after_in_child=_dice.seed)


def host_random() -> float:
    return _dice.random()


def new_id() -> str:
    """An id that nobody has. It begins with the time, so that an index of ids grows at one end."""
    return f"{time.time_ns() // 1_000_000:012x}{_dice.getrandbits(80):020x}"
