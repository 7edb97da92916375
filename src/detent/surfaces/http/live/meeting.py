"""How a reader on its own finds that it has seen what the tail has seen, though their cursors differ.

On PostgreSQL a cursor names the transactions that were under way, and those of two readers are seldom the same while
much is written. But what they have seen can be compared. A store shows a reader that comes to the end of the log all
that was committed when it began to read. So:

- If the tail came to the end in a read begun after the reader's last one was over, it has seen all that the reader has.
- If the reader then comes to the end as well, it has seen all that the tail had published when it began, and beyond
  that only what this read brought and the tail had not published.
- If what the tail publishes next is just that, in whichever order, then with the last of it both have seen the same.

If anything else comes first there is no such moment, and the reader reads on and tries again. Nothing is concluded from
how cursors look, or from times.
"""

from detent.surfaces.http.live.log import Stretch
from detent.surfaces.http.live.ring import Ring, identity


class Meeting:
    """Arranged before a read of the reader's."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self._from = self._position = ring.end
        self._alone: set[tuple[str, int, int]] = set()  # what the reader has seen and the tail has not published

    def has_read(self, stretch: Stretch) -> None:
        for entry, _ in stretch.told:
            published = self._ring.published(entry.event)
            if published is None or published >= self._from:
                self._alone.add(identity(entry.event))

    def position(self) -> int | None:
        """Where the reader can go on along the ring; None: nowhere, or not yet."""
        while self._alone:
            item = self._ring.at(self._position)
            if item is None or identity(item.event) not in self._alone:
                return None
            self._alone.remove(identity(item.event))
            self._position += 1
        return self._position if self._position >= self._ring.first else None


def arranged(ring: Ring, reads: int) -> Meeting | None:
    """If the tail has come to the end since, in a read that is not among its first so many."""
    return Meeting(ring) if ring.last_to_the_end > reads else None
