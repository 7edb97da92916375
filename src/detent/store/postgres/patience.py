"""How long, and how often, a transaction is tried again before whoever asked is told."""

from typing import Final

from detent.store.postgres.failing import is_again, is_lost
from detent.store.waiting import now_s, pause

CONFLICTS_MAX: Final = 30
CONFLICT_S: Final = 0.001  # and a little more each time
BACKOFF_S: Final = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # between tries to reach the server; the last stays


class Patience:
    """`retry_s`: how long a server may be out of reach."""

    def __init__(self, retry_s: float) -> None:
        self._deadline = now_s() + retry_s
        self._lost = 0
        self._conflicts = 0

    def allows(self, error: BaseException) -> bool:
        """Whether to try again, after a pause that it takes."""
        if is_lost(error):
            self._lost += 1
            pause(BACKOFF_S[min(self._lost, len(BACKOFF_S)) - 1])
            return now_s() < self._deadline
        if is_again(error):
            self._conflicts += 1
            pause(min(CONFLICT_S * self._conflicts, BACKOFF_S[0]))
            return self._conflicts < CONFLICTS_MAX
        return False

    def waits_for_others(self) -> bool:
        """Whether to look again at what somebody else is moving, after a pause that it takes."""
        pause(BACKOFF_S[0])
        return now_s() < self._deadline
