"""The newest events of a tail, in the order in which it read them, and the places it went through.

A cursor says exactly what its reader has seen, whatever the store. So a reader whose cursor is the same text as one of
these has seen what the tail had seen there, no more and no less, and can go on from the ring. From another text nothing
follows, even if it looks like a later place: on PostgreSQL, two readers may have seen different transactions.
"""

from collections import OrderedDict
from collections.abc import Sequence

from detent.kernel import Event
from detent.surfaces.http.live.item import Item


def identity(event: Event) -> tuple[str, int, int]:
    """With its time: after a purge the id of a job can be given to another."""
    return event.job_id, event.rev, event.at


class Ring:
    """Bounded in events and in bytes. Positions count what the tail has read since it began."""

    def __init__(self, place: str, *, items_max: int, bytes_max: int) -> None:
        self.place = place
        self.first = 0  # the position of the oldest event that is still here
        self.end = 0
        self.reads = 0  # that the tail has begun
        self.last_to_the_end = 0  # the number of the last of them that came to the end of the log
        self._items_max = items_max
        self._bytes_max = bytes_max
        self._bytes = 0
        self._items: OrderedDict[int, Item] = OrderedDict()
        self._published: dict[tuple[str, int, int], int] = {}
        self._positions: OrderedDict[str, int] = OrderedDict({place: 0})  # of cursors: what comes next after each

    def add(self, items: Sequence[Item], place: str, *, is_last: bool = False) -> None:
        """What the read brought that was begun last."""
        for item in items:
            self._items[self.end] = item
            self._published[identity(item.event)] = self.end
            self._bytes += len(item.data)
            self.end += 1
            self._positions[item.cursor] = self.end
        self.place = place
        self._positions[place] = self.end
        if is_last:
            self.last_to_the_end = self.reads
        self._trim()

    def position_of(self, cursor: str) -> int | None:
        """What to go on with after this place, if all of it is here."""
        return self._positions.get(cursor)

    def published(self, event: Event) -> int | None:
        """Its position; None: it was not published, or has left the ring."""
        return self._published.get(identity(event))

    def at(self, position: int) -> Item | None:
        """None: it has left the ring."""
        return self._items.get(position)

    def _trim(self) -> None:
        while len(self._items) > self._items_max or self._bytes > self._bytes_max:
            _, item = self._items.popitem(last=False)
            self._published.pop(identity(item.event), None)
            self._bytes -= len(item.data)
            self.first += 1
        # Places without events between them are as many as times that the log grew by those of other tenants.
        while self._is_oldest_place_left or len(self._positions) > 2 * (self._items_max + 1):
            self._positions.popitem(last=False)

    @property
    def _is_oldest_place_left(self) -> bool:
        return next(iter(self._positions.values())) < self.first

    def __len__(self) -> int:
        return len(self._items)
