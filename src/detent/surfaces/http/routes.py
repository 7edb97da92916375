"""Every route of the service, as one table: the API, its description and its authorization all come from here."""

from typing import Final

from detent.surfaces.http.operations import (
    events,
    health,
    jobs,
    letters,
    lifecycles,
    queues,
    schedules,
    tokens,
    upkeep,
    verbs,
    wires,
    workers,
)
from detent.surfaces.http.route import Route

MODULES: Final = (
    verbs, jobs, events, wires, letters, queues, workers, schedules, lifecycles, upkeep, tokens, health,
)  # fmt: skip
ROUTES: Final[tuple[Route, ...]] = tuple(route for module in MODULES for route in module.ROUTES)
