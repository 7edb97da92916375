"""Those who show no token, because they need none or ask for what there is not: bounded by where they come from.

Not those whose token is none: how often somebody may try one is bounded where tokens are looked at.
"""

from starlette.requests import Request

from detent.surfaces.http.rating import Rates
from detent.surfaces.http.settings import Settings


class Strangers:
    """Each address may ask as often as a token may. Behind a proxy that is one, and the proxy's to bound."""

    def __init__(self, settings: Settings) -> None:
        self._rates = Rates(rate_max=settings.rate_max, burst_max=settings.burst_max)

    def take(self, request: Request) -> None:
        """`ServiceError`, if its address has asked too often."""
        self._rates.take(request.client.host if request.client else "")
