"""Whether the service is there, whether it can work, what it counts, and what it says of itself."""

from typing import Final

from msgspec import Struct
from starlette.responses import Response

from detent.surfaces.http.ask import Ask
from detent.surfaces.http.route import ANYBODY, Route
from detent.surfaces.telemetry.exposition import CONTENT_TYPE


class HealthShape(Struct, frozen=True, kw_only=True):
    status: str


async def healthz(ask: Ask) -> HealthShape:
    """The process answers. It says nothing of the store."""
    return HealthShape(status="ok")


async def readyz(ask: Ask) -> HealthShape:
    """The service can work: it is not shutting down, and its store answers."""
    await ask.service.readiness.check()
    return HealthShape(status="ready")


async def metrics(ask: Ask) -> str:
    """What the service counts, for Prometheus: of this process, and the depths and ages of the tenant's queues."""
    return Response(await ask.service.metrics(ask.grant.tenant), media_type=CONTENT_TYPE)  # type: ignore[return-value]


async def openapi(ask: Ask) -> dict[str, str]:
    """This description."""
    return Response(ask.service.openapi_text(), media_type="application/json")  # type: ignore[return-value]


_READ: Final = ("read",)
ROUTES: Final = (
    Route(method="GET", path="/healthz", handler=healthz, scopes=ANYBODY, tag="service"),
    Route(method="GET", path="/readyz", handler=readyz, scopes=ANYBODY, tag="service"),
    Route(method="GET", path="/metrics", handler=metrics, scopes=_READ, tag="service", media=("text/plain",)),
    Route(method="GET", path="/openapi.json", handler=openapi, scopes=ANYBODY, tag="service"),
)
