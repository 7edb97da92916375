"""Waiting, with a bound, for what another process does in its own time."""

import time
from collections.abc import Callable
from typing import Final

WAIT_S: Final = 30.0
LOOK_AGAIN_S: Final = 0.02


def until(holds: Callable[[], bool]) -> bool:
    """Did it come to hold in time?"""
    give_up_at = time.monotonic() + WAIT_S
    while not (held := holds()) and time.monotonic() < give_up_at:
        time.sleep(LOOK_AGAIN_S)
    return held
