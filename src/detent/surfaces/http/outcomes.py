"""What a route may answer instead of what was asked for: the codes of its problems, by status."""

from collections.abc import Iterable
from typing import Final

from detent.errors import ARGUMENT_ERRORS, DENIALS, REFUSALS, STORE_ERRORS, TOKEN_ERRORS
from detent.lifecycle.bounds import SETTING_ERRORS
from detent.lifecycle.problems import PROBLEMS
from detent.surfaces.http.route import Route
from detent.wire.http.problems import status_of_code

# Whoever asks, and whatever for.
_ALWAYS: Final = ("foreign_origin", "closing", "internal_error", "invalid_argument")
_ASKER: Final = (*TOKEN_ERRORS, *DENIALS, "too_many_requests")
_OF_BODIES: Final = (
    "bad_json", "unsupported_media", "receipt_timed_out", "message_too_large", "too_much_arriving", "not_found",
    *ARGUMENT_ERRORS, *SETTING_ERRORS,
)  # fmt: skip
_OF_QUERIES: Final = ("bad_cursor", "bad_moment")
_OF_LIVE: Final = ("not_acceptable", "too_many_streams")
# Of routes that may move a job; the job may refuse.
_MOVING: Final = ("jobs", "work", "dispatch", "dead letters", "upkeep", "schedules")


def codes_of(route: Route) -> dict[int, list[str]]:
    found: dict[int, set[str]] = {}
    for code in _codes(route):
        found.setdefault(status_of_code(code), set()).add(code)
    return {status: sorted(found[status]) for status in sorted(found)}


def _codes(route: Route) -> Iterable[str]:
    yield from _ALWAYS
    if route.scopes:
        yield from (*_ASKER, *STORE_ERRORS)
    elif not route.is_vital:
        yield "too_many_requests"
    if route.changes:
        yield "read_only"
    if route.parameters:
        yield from ("not_found", "no_such_path")
    if route.query is not None:
        yield from _OF_QUERIES
    if route.body is not None:
        yield from _OF_BODIES
    if route.tag in _MOVING and route.changes:
        yield from REFUSALS
    yield from _OWN.get(route.name, ())


_OWN: Final[dict[str, tuple[str, ...]]] = {
    "events": _OF_LIVE,
    "claim": ("too_many_waiting",),
    "register_lifecycles": (*PROBLEMS, "lifecycle_conflict"),
    "readyz": ("not_ready",),
    "job_result": ("wrong_lifecycle", "unknown_status"),
    "job_telemetry": ("wrong_lifecycle",),
}
