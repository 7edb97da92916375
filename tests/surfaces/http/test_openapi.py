"""The description holds together: it is valid, whole, and says of every route what the table says."""

import re
from collections.abc import Iterator
from typing import Any, Final

import jsonschema_rs
import msgspec
import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31

from detent.surfaces.http.bounds import bounded
from detent.surfaces.http.openapi import TAGS, description, document
from detent.surfaces.http.route import Route
from detent.surfaces.http.routes import ROUTES
from tests.surfaces.http.serving import Served

TOLD: Final = description()
OPERATIONS: Final = {
    (method.upper(), path): told for path, item in TOLD["paths"].items() for method, told in item.items()
}
_LINE_MAX: Final = 200


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of it, at any depth."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(each)


def test_description_is_valid_openapi_3_1() -> None:
    found = list(jsonschema_rs.validator_for(OPENAPI_31).iter_errors(TOLD))

    assert found == []


def test_every_schema_is_a_schema() -> None:
    for schema in TOLD["components"]["schemas"].values():
        jsonschema_rs.meta.validate(schema | {"$schema": "https://json-schema.org/draft/2020-12/schema"})


def test_every_reference_leads_somewhere() -> None:
    for part in parts(TOLD):
        found: Any = TOLD
        for step in part.get("$ref", "#").split("/")[1:]:
            found = found[step]


def test_every_component_is_used() -> None:
    used = set(re.findall(rb'"#/components/(\w+/[^"]+)"', document()))

    made = {f"{kind}/{name}".encode() for kind in ("schemas", "responses") for name in TOLD["components"][kind]}
    assert made == used


def test_names_of_operations_are_unique() -> None:
    names = [told["operationId"] for told in OPERATIONS.values()]

    assert len(names) == len(set(names)) == len(ROUTES)


def test_types_have_plain_names() -> None:
    assert [name for name in TOLD["components"]["schemas"] if not name.isidentifier()] == []


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_route_is_described(route: Route) -> None:
    told = OPERATIONS[route.method, route.path]

    assert 5 < len(told["summary"]) < _LINE_MAX
    assert told["summary"].endswith(".")
    assert told["x-scopes"] == list(route.scopes)
    assert (told.get("security") == []) == (not route.scopes)
    assert told["tags"][0] in TAGS
    assert {each["name"] for each in told["parameters"] if each["in"] == "path"} == set(route.parameters)
    assert ("requestBody" in told) == (route.body is not None)
    assert "500" in told["responses"]
    assert ("401" in told["responses"]) == ("403" in told["responses"] and bool(route.scopes))


def test_every_parameter_of_text_or_number_has_bounds() -> None:
    loose = [
        (key, parameter["name"])
        for key, told in OPERATIONS.items()
        for parameter in told["parameters"]
        if not {"maxLength", "maximum", "enum", "pattern", "format", "maxItems"}.intersection(parameter["schema"])
        and parameter["schema"]["type"] != "boolean"
    ]

    assert loose == []


def test_bounds_of_a_list_are_not_those_of_its_name() -> None:
    told = bounded("X", {"properties": {"queues": {"type": "string"}, "limit": {"anyOf": [{"type": "null"}]}}})

    assert told["properties"] == {"queues": {"type": "string"}, "limit": {"anyOf": [{"type": "null"}]}}


def test_service_gives_the_description_that_is_in_the_repository(service: Served) -> None:
    answer = service.ask("GET", "/openapi.json", token=None)

    assert answer.body == document()
    assert msgspec.json.decode(answer.body) == msgspec.json.decode(msgspec.json.encode(TOLD))


def test_moments_are_marked_wherever_they_are() -> None:
    job = TOLD["components"]["schemas"]["JobShape"]["properties"]

    assert job["created_at"] == {"type": "string", "format": "date-time"}
    assert job["lease_expires_at"]["anyOf"][0] == {"type": "string", "format": "date-time"}
    assert "format" not in job["order_at"]
