"""An event as readers get it: with its place, and encoded once for all of them."""

from collections.abc import Callable

import msgspec

from detent.kernel import Event
from detent.store import Entry
from detent.surfaces.http.live.specs import Belonging
from detent.wire.http.events import event_shape

# How an event is written: its entry in the log, its queue and its kind, which are None if the job is gone.
Encode = Callable[[Entry, str | None, str | None], bytes]


class Item(msgspec.Struct, frozen=True, eq=False, gc=False):
    """`data` is all that goes over the line. `cursor` is the place reached with it, by whoever was handed it."""

    cursor: str
    event: Event
    belonging: Belonging
    data: bytes

    @property
    def queue(self) -> str | None:
        return self.belonging.queue

    @property
    def kind(self) -> str | None:
        return self.belonging.kind


def item_of(entry: Entry, belonging: Belonging, encode: Encode) -> Item:
    return Item(entry.cursor, entry.event, belonging, encode(entry, *belonging))


def server_sent(data: bytes, cursor: str) -> bytes:
    """As an event of `text/event-stream`. JSON has no line breaks, and nor have cursors."""
    return b"id: %s\ndata: %s\n\n" % (cursor.encode(), data)


def plain(entry: Entry, queue: str | None, kind: str | None) -> bytes:
    """The event as it is in the log."""
    return server_sent(msgspec.json.encode(event_shape(entry.event, entry.cursor)), entry.cursor)
