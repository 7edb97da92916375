"""The metrics of a service, as its route `/metrics` answers."""

from collections.abc import Iterable

from detent.surfaces.telemetry.exposition import Family, Samples, encoded
from detent.surfaces.telemetry.gauges import Gauges
from detent.surfaces.telemetry.meter import Meter

Families = Iterable[tuple[Family, Samples]]


async def exposed(meter: Meter, gauges: Gauges, beside: Families = ()) -> bytes:
    return encoded([*meter.families(), *await gauges.families(), *beside])
