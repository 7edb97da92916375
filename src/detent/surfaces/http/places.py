"""Room for those who wait or listen: so many in all, and never all of it for one tenant."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from typing import Final

from detent.errors import ServiceError

SHARE: Final = 0.9  # of all places, for one tenant: whoever else comes still finds one


class Places:
    def __init__(self, most: int, code: str) -> None:
        self._most = most
        self._share = ceil(most * SHARE)
        self._code = code
        self._taken: Counter[str] = Counter()

    @contextmanager
    def taken(self, tenant: str) -> Iterator[None]:
        """For the length of a block; `ServiceError` if there is none."""
        if self._taken.total() >= self._most or self._taken[tenant] >= self._share:
            raise ServiceError(self._code)
        self._taken[tenant] += 1
        try:
            yield
        finally:
            self._taken[tenant] -= 1
            if not self._taken[tenant]:
                del self._taken[tenant]

    def __len__(self) -> int:
        return self._taken.total()
