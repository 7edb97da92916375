"""What a service counts of its bus, since it was started."""

from collections.abc import Iterator
from typing import Final

from detent.runtime.counting import Table
from detent.surfaces.telemetry import families
from detent.surfaces.telemetry.exposition import Family, Samples, alone

UNREADABLE: Final = "unreadable"  # stands for the message of a packet that is none


class Counts:
    def __init__(self) -> None:
        self.received = Table(*families.BUS_RECEIVED.labels)
        self.refused = Table(*families.BUS_REFUSED.labels)
        self.sent = Table(*families.BUS_SENT.labels)

    def families(self, *, is_connected: bool) -> Iterator[tuple[Family, Samples]]:
        yield families.BUS_CONNECTED, alone(is_connected)
        yield families.BUS_RECEIVED, self.received
        yield families.BUS_REFUSED, self.refused
        yield families.BUS_SENT, self.sent
