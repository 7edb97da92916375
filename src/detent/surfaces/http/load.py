"""How much the service carries at once: the bytes of all bodies that are arriving, or being answered."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from detent.errors import ServiceError
from detent.surfaces.http.places import SHARE

Add = Callable[[int], None]


class Load:
    def __init__(self, bytes_max: int) -> None:
        self._most = bytes_max
        self._carried: Counter[str] = Counter()

    @contextmanager
    def carried(self, tenant: str) -> Iterator[Add]:
        """For the length of a block: what is added in it weighs until its end. Only what has come: a length that was
        announced costs nothing, or announcing it would be enough to fill the service.
        """
        mine = 0

        def add(size: int) -> None:
            nonlocal mine
            self._check(tenant, size)
            self._carried[tenant] += size
            mine += size

        try:
            yield add
        finally:
            self._carried[tenant] -= mine
            if not self._carried[tenant]:
                del self._carried[tenant]

    def _check(self, tenant: str, size: int) -> None:
        """One tenant has not quite all of it: whoever else comes is still heard."""
        is_too_much = self._carried.total() + size > self._most
        if is_too_much or self._carried[tenant] + size > self._most * SHARE:
            raise ServiceError("too_much_arriving")

    def __len__(self) -> int:
        return self._carried.total()
