"""How long a store may fail before those who follow its log give up."""

from detent.errors import DetentError
from detent.runtime.backing_off import Backoff
from detent.store.waiting import now_s


class Patience:
    def __init__(self, trouble_s_max: float) -> None:
        self._trouble_s_max = trouble_s_max
        self._backoff = Backoff()
        self._since_s: float | None = None

    def succeeded(self) -> None:
        self._backoff.succeeded()
        self._since_s = None

    async def after(self, error: DetentError) -> None:
        """Wait a little, and longer each time. When it has gone on for too long, the error is passed on."""
        self._since_s = now_s() if self._since_s is None else self._since_s
        if now_s() - self._since_s >= self._trouble_s_max:
            raise error
        await self._backoff.wait()
