"""What the store's clock says, as far as it can be known without asking: what it last said, and the time since then.

The host's monotonic clock measures that time; its idea of the date does not matter. Whatever is decided on a reckoned
moment is compared with the store's own clock when it is written.
"""

import time
from typing import Final

HEARD_MAX: Final = 16
LATE_US: Final = 5_000  # as much as an answer is late when the server, or this program, is busy


def monotonic_us() -> int:
    return time.monotonic_ns() // 1_000


class Reckoning:
    def __init__(self) -> None:
        self._ahead: int | None = None
        self._left = 0  # answers that the one it goes by may outlive

    def heard(self, moment: int, at: int) -> None:
        """What it said, and when that was heard here: somewhat later, by a commit perhaps. Of the last few answers the
        one counts that was heard soonest; but a clock that was put back is not just late.
        """
        ahead, self._left = moment - at, self._left - 1
        if self._ahead is None or not self._left or not self._ahead - LATE_US <= ahead < self._ahead:
            self._ahead, self._left = ahead, HEARD_MAX

    def now(self) -> int | None:
        """None: it has said nothing yet."""
        return None if self._ahead is None else monotonic_us() + self._ahead
