"""A request for each route of the table: enough of one to get as far as the question who asks."""

from typing import Any, Final

from msgspec import Struct

from detent.surfaces.http.route import Route
from detent.surfaces.http.routes import ROUTES

LIVE: Final = {"accept": "text/event-stream"}
GUARDED: Final = tuple(route for route in ROUTES if route.scopes)
ABOUT_A_JOB: Final = tuple(route for route in ROUTES if "job_id" in route.parameters)


class Asking(Struct, frozen=True):
    """`headers` makes the live stream of the route that also has pages."""

    route: Route
    headers: dict[str, str] = {}

    @property
    def method(self) -> str:
        return self.route.method

    @property
    def body(self) -> Any:
        return {} if self.route.body is not None else None

    def path(self, **names: str) -> str:
        return self.route.path.format_map(dict.fromkeys(self.route.parameters, "nobodys") | names)

    def __str__(self) -> str:
        return f"{self.method} {self.route.path}{' live' if self.headers else ''}"


def askings(routes: tuple[Route, ...] = GUARDED) -> list[Asking]:
    live = [Asking(route, LIVE) for route in routes if LIVE["accept"] in route.media]
    return [*(Asking(route) for route in routes), *live]


# The least that each verb takes besides who asks.
LEAST: Final[dict[str, dict[str, Any]]] = {
    "schedule": {"verdict": "allow", "rule": "r"},
    "fail": {"error": {"type": "E"}},
    "progress": {"progress": {"fraction": 0.5}},
    "artifact": {"name": "n", "pointer": "p"},
    "dead_letter": {"reason_code": "timeout", "stage": "exec"},
}
