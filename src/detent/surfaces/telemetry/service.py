"""The metrics of a service, as its route `/metrics` answers."""

from detent.surfaces.telemetry.exposition import encoded
from detent.surfaces.telemetry.gauges import Gauges
from detent.surfaces.telemetry.meter import Meter


async def exposed(meter: Meter, gauges: Gauges) -> bytes:
    return encoded([*meter.families(), *await gauges.families()])
