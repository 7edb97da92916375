"""What the store's clock says, as far as it can be known without asking: what it last said, and the time since then.

The host's monotonic clock measures that time; its idea of the date does not matter. Whatever is decided on a reckoned
moment is compared with the store's own clock when it is written.
"""

import time


def monotonic_us() -> int:
    return time.monotonic_ns() // 1_000


class Reckoning:
    def __init__(self) -> None:
        self._ahead: int | None = None

    def heard(self, moment: int, at: int) -> None:
        """What it said, and when that was heard here."""
        self._ahead = moment - at

    def now(self) -> int | None:
        """None: it has said nothing yet."""
        return None if self._ahead is None else monotonic_us() + self._ahead
