"""The page of the HTTP API, from the same table as the service itself and its OpenAPI document."""

from collections.abc import Iterable
from typing import Final

from detent.surfaces.http.openapi import TAGS
from detent.surfaces.http.outcomes import codes_of
from detent.surfaces.http.route import Route
from detent.surfaces.http.routes import ROUTES
from detent.surfaces.reference.markdown import code, codes, page, section, table
from detent.wire.http.problems import TITLES

_INTRODUCTION: Final = (
    "What `detent serve` answers. Bodies and answers are JSON; moments are RFC 3339. All of it for programs, with "
    "every type and bound, is [openapi.json](openapi.json), which the service also gives at `/openapi.json`."
)
_HEADERS: Final = (
    ("`Authorization: Bearer TOKEN`", "who asks; made by `detent token create`"),
    ("`Detent-Tenant`", "which tenant, of a token that is for any; otherwise the token says it"),
    ("`Idempotency-Key`", "a repeat with the same is answered with the job as it is now; other content is refused"),
    ("`If-Match`", 'what was decided on: the `ETag` of the job, or its bare revision (`"7"`); else `stale_rev` (412)'),
    ("`If-None-Match`", "of a read: 304 if it is still as the asker has it"),
    ("`Accept: text/event-stream`", "of `/v1/events`: live, from now on or after `Last-Event-ID`"),
)


def http_page() -> str:
    return page(
        "HTTP API",
        _INTRODUCTION,
        section("Headers", table(("header", "meaning"), _HEADERS)),
        *(section(tag.capitalize(), said, _routes(tag)) for tag, said in TAGS.items()),
        section(
            "Problems",
            "What is refused is answered with `application/problem+json` (RFC 9457): `code` is stable, `detail` is for "
            "people. Of a refused move, `state` and `allowed` say where the job is and which verbs leave that state. "
            "What the codes mean: [errors](errors.md).",
            table(("status", "meaning", "codes"), _problems()),
        ),
    )


def _routes(tag: str) -> str:
    return table(("route", "scopes", "what it does"), (_row(route) for route in ROUTES if route.tag == tag))


def _row(route: Route) -> tuple[str, str, str]:
    scopes = [scope for scope in route.scopes if scope != "admin"]
    needed = codes(scopes) or (code("admin") if route.scopes else "anybody")
    return code(f"{route.method} {route.path}"), needed, route.summary


def _problems() -> Iterable[tuple[int, str, str]]:
    found: dict[int, set[str]] = {405: {"method_not_allowed"}, 400: {"not_http"}, 503: {"too_many_connections"}}
    for route in ROUTES:
        for status, listed in codes_of(route).items():
            found.setdefault(status, set()).update(listed)
    return ((status, TITLES[status], codes(sorted(found[status]))) for status in sorted(found))
