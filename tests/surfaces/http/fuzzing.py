"""Whatever the description allows, and what it does not: schemathesis draws it, and a real service answers.

Random ids name nothing. So some of the cases are given the ids of jobs that are there, in one state or another, and
the worker and the attempt that hold them; otherwise all that is ever tried is how something is not found.
"""

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    negative_data_rejection,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from detent.surfaces.http.openapi import description
from tests.surfaces.http.serving import Served

CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
JOBS: Final = 20
WAIT_S: Final = 0.01
WORKER: Final = "w1"
_PRINTABLE: Final = st.characters(codec="utf-8", exclude_categories=("C", "Z"))

schemathesis.openapi.format("name", st.text(_PRINTABLE, min_size=1, max_size=20))


class Fuzz:
    """`tally` counts the cases, by mode and status."""

    def __init__(self, service: Served, chance: int) -> None:
        self._service = service
        self._random = random.Random(chance)
        self._chance = chance
        self._session = requests.Session()
        self._operations = {mode: _operations(mode) for mode in GenerationMode}
        self.tally: Counter[tuple[str, int]] = Counter()
        self._ids: list[str] = []

    def run(self, each: int, *, mode: GenerationMode, token: str | None) -> Counter[tuple[str, int]]:
        """So many cases of each operation, counted."""
        before = self.tally.copy()
        for operation in self._operations[mode]:
            self._prepare()
            with suppress(Unsatisfiable):  # nothing can be wrong about a question that has no parts
                self._tried(operation, each, mode, token)()
        return self.tally - before

    def _tried(self, operation: Any, examples: int, mode: GenerationMode, token: str | None) -> Callable[[], None]:
        how = settings(
            max_examples=examples, database=None, deadline=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck), print_blob=False, derandomize=False,
        )  # fmt: skip

        @seed(self._chance)
        @how
        @given(case=operation.as_strategy(generation_mode=mode))
        def tried(case: Case[Any]) -> None:
            self._try(case, mode, token)

        return tried

    def _try(self, case: Case[Any], mode: GenerationMode, token: str | None) -> None:
        self._aim(case, mode)
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        response = case.call(base_url=self._service.address, session=self._session, headers=headers, timeout=60)
        self.tally[mode.value, response.status_code] += 1
        is_wrong = mode is GenerationMode.NEGATIVE and response.status_code < 400 and _is_sent(case.query)
        is_wrong = is_wrong and not _is_judged_one_by_one(case.body)
        case.validate_response(response, checks=[*CHECKS, negative_data_rejection] if is_wrong else CHECKS)

    def _aim(self, case: Case[Any], mode: GenerationMode) -> None:
        """At something that is there, more often than not; and never at a wait that lasts.

        What is wrong on purpose stays as it is.
        """
        body = case.body if isinstance(case.body, dict) else {}
        for said in (case.query, body):
            if _is_long(said.get("wait_s")):
                said["wait_s"] = WAIT_S
        if mode is GenerationMode.POSITIVE:
            if "job_id" in case.path_parameters and self._random.random() < 0.7:
                case.path_parameters["job_id"] = quote(self._random.choice(self._ids), safe="")
            for said in (body, *_requests(body)):
                self._aim_body(said)

    def _aim_body(self, body: dict[str, Any]) -> None:
        for name in ("attempt", "expected_rev", "role", "policy", "lifecycle", "sealed", "lifecycle_version"):
            if name in body and self._random.random() < 0.7:
                del body[name]
        if "job_id" in body and self._random.random() < 0.7:
            body["job_id"] = self._random.choice(self._ids)
        if "worker" in body and self._random.random() < 0.7:
            body["worker"] = WORKER
        if "job_ids" in body and self._random.random() < 0.7:
            body["job_ids"] = self._random.sample(self._ids, 3)

    def _prepare(self) -> None:
        """Some jobs in each of the usual states."""
        made = [self._service.job(kind=f"fuzz{index % 3}", payload={"n": index})["id"] for index in range(JOBS)]
        self._service.ask("POST", "/v1/claims", {"worker": WORKER, "limit": 8, "start": True, "kinds": ["fuzz0"]})
        self._service.ask("POST", f"/v1/jobs/{made[1]}/cancel", {})
        self._service.ask("POST", f"/v1/jobs/{made[2]}/dead_letter", {"reason_code": "timeout", "stage": "exec"})
        self._ids = made


def _requests(body: object) -> list[Any]:
    listed = body.get("requests") if isinstance(body, dict) else None
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _is_judged_one_by_one(body: object) -> bool:
    """A request of a batch that is wrong is answered in its place, and the others are carried out."""
    return bool(_requests(body))


def _is_long(wait_s: object) -> bool:
    return isinstance(wait_s, int | float) and WAIT_S < wait_s <= 60


def _is_sent(query: dict[str, Any]) -> bool:
    """Whether all of it gets on the line: nothing, and a list of nothing, do not."""
    return all(value is not None and value not in ([], {}, [None]) for value in query.values())


def _operations(mode: GenerationMode) -> list[Any]:
    """Who asks is not schemathesis' business: a token that it spoils would be mended on the way.

    And it cannot tell what is no name: only the bounds of one are there for it to go beyond.
    """
    told = {name: part for name, part in description().items() if name != "security"}
    schema = schemathesis.openapi.from_dict(told if mode is GenerationMode.POSITIVE else _without_names(told))
    return [found for each in schema.get_all_operations() if (found := each.ok())]  # type: ignore[union-attr]


def _without_names(told: Any) -> Any:
    if isinstance(told, list):
        return [_without_names(each) for each in told]
    if not isinstance(told, dict):
        return told
    return {name: _without_names(part) for name, part in told.items() if (name, part) != ("format", "name")}
