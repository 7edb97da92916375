"""What was published to a reader and not taken yet."""

from collections import deque

from detent.surfaces.http.live.item import Item


class Buffer:
    """Bounded in events and in bytes; one event always has room."""

    def __init__(self, *, items_max: int, bytes_max: int) -> None:
        self._items_max = items_max
        self._bytes_max = bytes_max
        self._bytes = 0
        self._items: deque[Item] = deque()

    def put(self, item: Item) -> bool:
        """Whether there was room."""
        size = len(item.data)
        if self._items and (len(self._items) >= self._items_max or self._bytes + size > self._bytes_max):
            return False
        self._items.append(item)
        self._bytes += size
        return True

    def take(self, items_max: int) -> list[Item]:
        taken = [self._items.popleft() for _ in range(min(items_max, len(self._items)))]
        self._bytes -= sum(len(item.data) for item in taken)
        return taken

    def clear(self) -> None:
        self._items.clear()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._items)
