"""What a service can bring along beside its routes: a socket for engines, a bus. Each is a surface of its own."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from starlette.types import Receive, Scope, Send

from detent.surfaces.telemetry.exposition import Family, Samples

if TYPE_CHECKING:
    from detent.surfaces.http.service import Service


class Attachment(Protocol):
    """Opened once the service is, and closed while it still is. What arrives under `mounted_at` is for it to answer."""

    mounted_at: str | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    async def open(self, service: "Service") -> None: ...

    async def send_away(self) -> None:
        """The service is about to stop: whoever is connected is told, and nothing new begins."""

    async def close(self) -> None: ...

    def families(self, tenant: str) -> Iterable[tuple[Family, Samples]]:
        """What it has counted that is this tenant's business."""
