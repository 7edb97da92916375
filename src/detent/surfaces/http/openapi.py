"""The service described for programs: OpenAPI 3.1, made from the table of routes and the types of its handlers."""

from functools import cache
from types import NoneType
from typing import Any, Final

import msgspec

from detent.surfaces.http.bodies import BODIES
from detent.surfaces.http.bounds import CURSOR, NAME, bounded, timed
from detent.surfaces.http.matching import PATTERN
from detent.surfaces.http.outcomes import codes_of
from detent.surfaces.http.route import Route
from detent.surfaces.http.routes import ROUTES
from detent.version import __version__
from detent.wire.http.problems import MEDIA_TYPE, RETRY_AFTER_S, TITLES, Problem

JSON: Final = "application/json"
Schema = dict[str, Any]
_REF: Final = "#/components/schemas/{name}"
_TEXT: Final[Schema] = {"type": "string"}
# What somebody sends is within bounds. What is sent and answered alike keeps to its types.
_ASKED: Final = ("Body", "Query", "Item", "Lane", "Error", "Progress")
TAGS: Final = {
    "jobs": "Making, moving and looking at jobs.",
    "work": "Taking work.",
    "log": "What has happened, as pages and live.",
    "dispatch": "Requests and results in the words of `dispatch`.",
    "engine": "Telemetry in the words of `engine`.",
    "dead letters": "Jobs that were set aside.",
    "queues": "Queues and limit keys.",
    "workers": "Who serves the queues.",
    "schedules": "Jobs that the calendar asks for.",
    "lifecycles": "The state machines that jobs follow.",
    "upkeep": "What keeps a store in order.",
    "tokens": "Who may do what.",
    "service": "The service itself.",
}


# Bodies that hold requests of any verb.
_OF_REQUESTS: Final = ("BatchBody", "PaceBody", "AdvanceBody")


@cache
def document() -> bytes:
    return msgspec.json.format(msgspec.json.encode(description(), order="deterministic"), indent=1) + b"\n"


def description() -> dict[str, Any]:
    types = _types()
    schemas, found = msgspec.json.schema_components(types, ref_template=_REF)
    by_type = dict(zip(types, schemas, strict=True))
    components = {name: _told(name, schema) for name, schema in found.items()}
    for name in _OF_REQUESTS:
        components[name]["properties"]["requests"]["items"] = _request(components)
    problems = Problems(by_type[Problem])
    paths: dict[str, Any] = {}
    for route in ROUTES:
        operation = _operation(route, by_type, components) | {"responses": _responses(route, by_type, problems)}
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    shown = {name: schema for name, schema in components.items() if not name.endswith("Query")}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Detent",
            "version": __version__,
            "summary": "Durable jobs, each moving through a declared and enforced lifecycle, every move logged.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": said} for name, said in TAGS.items()],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": shown,
            "responses": problems.components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "Made by `detent token create`."}
            },
        },
    }


def _request(components: dict[str, Schema]) -> Schema:
    """One of a batch: the arguments of whichever verb. What does not belong to its verb is answered in its place."""
    kinds: dict[str, list[Schema]] = {"job_id": [NAME]}
    for body in BODIES.values():
        for name, schema in components[body.__name__]["properties"].items():
            known = kinds.setdefault(name, [])
            known += [] if schema in known else [schema]
    arguments = {name: each[0] if len(each) == 1 else {"anyOf": each} for name, each in kinds.items()}
    return {"type": "object", "required": ["verb"], "properties": {"verb": {"enum": list(BODIES)}, **arguments}}


def _told(name: str, schema: Schema) -> Schema:
    """A docstring's indentation is Python's own affair."""
    said = {"description": " ".join(schema["description"].split())} if "description" in schema else {}
    whole = timed(schema) | said
    return bounded(name, whole) if name.endswith(_ASKED) else whole


def _types() -> list[Any]:
    found: list[Any] = [Problem]
    for route in ROUTES:
        for each in (route.query, route.body, route.answer):
            if each is not None and each not in found and each not in (NoneType, str) and _is_struct(each):
                found.append(each)
    return found


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _operation(route: Route, by_type: dict[Any, Schema], components: dict[str, Schema]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "tags": [route.tag],
        "parameters": [*_path_parameters(route), *_query_parameters(route, by_type, components), *_headers(route)],
        "x-scopes": list(route.scopes),
    }
    if route.details:
        told["description"] = route.details
    if not route.scopes:
        told["security"] = []
    if route.body is not None:
        told["requestBody"] = {
            "required": any(each.required for each in msgspec.structs.fields(route.body)),
            "content": {JSON: {"schema": by_type[route.body]}},
        }
    return told


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [{"name": name, "in": "path", "required": True, "schema": _TEXT | NAME} for name in route.parameters]


def _query_parameters(route: Route, by_type: dict[Any, Schema], components: dict[str, Schema]) -> list[dict[str, Any]]:
    if route.query is None:
        return []
    # A query is no object on the wire; its fields are parameters, and the struct itself is not needed.
    schema = components[by_type[route.query]["$ref"].rpartition("/")[2]]
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _said(each)}
        | ({"style": "form", "explode": True} if each.get("type") == "array" else {})
        for name, each in schema["properties"].items()
    ]


def _said(schema: Schema) -> Schema:
    """In a query there is no null: what is not said is left out."""
    (kind, *others) = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}] or [schema]
    assert not others
    return {name: value for name, value in kind.items() if (name, value) != ("default", None)}


def _headers(route: Route) -> list[dict[str, Any]]:
    found = []
    if route.scopes:
        found.append(_header("Detent-Tenant", "Which tenant, percent-encoded; only a token for any may choose.", NAME))
    if route.preconditions:
        said = "What was decided on: the ETag of the job, or its bare revision."
        found.append(_header("If-Match", said, {"pattern": rf"^(\*|{PATTERN})$"}))
    if route.idempotent:
        found.append(_header("Idempotency-Key", "A repeat of the request has the same, and changes nothing.", NAME))
    if "text/event-stream" in route.media:
        found.append(_header("Last-Event-ID", "Go on after this event, live.", CURSOR))
    return found


def _header(name: str, said: str, bounds: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": False, "description": said, "schema": _TEXT | bounds}


def _responses(route: Route, by_type: dict[Any, Schema], problems: "Problems") -> dict[str, Any]:
    responses: dict[str, Any] = {}
    if route.answer is NoneType:
        responses["204"] = {"description": "Done."}
    else:
        content = {media: {"schema": _answered(route, media, by_type)} for media in route.media}
        for status in sorted({route.status, 200} if route.name == "enqueue" else {route.status}):
            responses[str(status)] = {"description": "The answer.", "content": content}
    if route.method == "GET" and route.answer is not NoneType:
        responses["304"] = {"description": "It is as the asker has it (If-None-Match)."}
    for status, codes in codes_of(route).items():
        responses[str(status)] = problems.ref(status, codes)
    return responses


def _answered(route: Route, media: str, by_type: dict[Any, Schema]) -> Schema:
    return by_type.get(route.answer, {"type": "object"}) if media == JSON else _TEXT


class Problems:
    """Described once each: many routes refuse alike."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._names: dict[tuple[int, tuple[str, ...]], str] = {}
        self.components: dict[str, Any] = {}

    def ref(self, status: int, codes: list[str]) -> Schema:
        key = (status, tuple(codes))
        if key not in self._names:
            others = sum(1 for known, _ in self._names if known == status)
            self._names[key] = f"Problem{status}" + (f"-{others + 1}" if others else "")
            self.components[self._names[key]] = self._told(status, codes)
        return {"$ref": f"#/components/responses/{self._names[key]}"}

    def _told(self, status: int, codes: list[str]) -> dict[str, Any]:
        narrowed = {"properties": {"code": {"enum": codes}, "status": {"const": status}}}
        told: dict[str, Any] = {
            "description": TITLES[status],
            "content": {MEDIA_TYPE: {"schema": {"allOf": [self._schema, narrowed]}}},
        }
        if any(code in RETRY_AFTER_S for code in codes):
            said = "After how many seconds it may help to ask again."
            told["headers"] = {"Retry-After": {"description": said, "schema": {"type": "integer", "minimum": 1}}}
        if status == 401:
            told["headers"] = {"WWW-Authenticate": {"description": "How to say who one is.", "schema": _TEXT}}
        return told
