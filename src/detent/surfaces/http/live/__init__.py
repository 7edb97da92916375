"""Live events: one tail of the log per tenant, and any number of readers who each see what they asked for, once.

The tail publishes to a ring of the newest events, and from there to those who listen. Whoever comes from further back
reads the store by itself, until its cursor is one that the ring knows. No HTTP here, and no heartbeats.
"""

from detent.surfaces.http.live.filters import Filters
from detent.surfaces.http.live.hub import Hub
from detent.surfaces.http.live.hubs import Hubs
from detent.surfaces.http.live.item import Encode, Item, plain, server_sent
from detent.surfaces.http.live.reader import Ended, Reader
from detent.surfaces.http.live.settings import LiveSettings

__all__ = ["Encode", "Ended", "Filters", "Hub", "Hubs", "Item", "LiveSettings", "Reader", "plain", "server_sent"]
