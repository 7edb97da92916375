"""A trace that comes with a request goes on through the service into the job, traced by it or not."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from tests.surfaces.http.serving import Served, served
from tests.telemetry.tracing import Spans, said, trace_id, traceparent

TRACE: Final = "4bf92f3577b34da6a3ce929d0e0e4736"
INCOMING: Final = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, reconcile_s=None) as one:
        yield one


@pytest.mark.requirement("STD-17")
def test_job_made_by_a_request_belongs_to_the_trace_of_the_request(service: Served, spans: Spans) -> None:
    job = service.ask("POST", "/v1/jobs", {"kind": "scan"}, headers=INCOMING).said
    serving, enqueued = spans.one("POST /v1/jobs"), spans.one("enqueue scan")

    assert (job["trace_id"], job["traceparent"]) == (TRACE, traceparent(enqueued))
    assert (serving.kind, enqueued.kind) == (SpanKind.SERVER, SpanKind.PRODUCER)
    assert serving.parent is not None
    assert enqueued.parent is not None
    assert f"{serving.parent.span_id:016x}" == "00f067aa0ba902b7"
    assert enqueued.parent.span_id == serving.context.span_id
    assert trace_id(enqueued) == TRACE
    assert said(serving)["http.response.status_code"] == 201


@pytest.mark.requirement("STD-17", "ALL-11")
def test_every_event_of_the_job_has_the_trace_id(service: Served, spans: Spans) -> None:
    job = service.ask("POST", "/v1/jobs", {"kind": "scan", "correlation_id": "order-7"}, headers=INCOMING).said
    who = {"worker": "w", "attempt": 1}
    service.ask("POST", "/v1/claims", {"worker": "w"})
    for verb in ("start", "complete"):
        assert service.ask("POST", f"/v1/jobs/{job['id']}/{verb}", who).status == 200
    events = service.ask("GET", f"/v1/jobs/{job['id']}/events").said["events"]

    assert {event["trace_id"] for event in events} == {TRACE}
    assert {event["correlation_id"] for event in events} == {"order-7"}


def test_trace_id_that_a_caller_names_wins(service: Served, spans: Spans) -> None:
    job = service.ask("POST", "/v1/jobs", {"kind": "scan", "trace_id": "mine"}, headers=INCOMING).said

    assert job["trace_id"] == "mine"


def test_spans_are_named_by_the_route_and_not_by_ids(service: Served, spans: Spans) -> None:
    job = service.job()
    service.ask("GET", f"/v1/jobs/{job['id']}")
    refused = service.ask("POST", f"/v1/jobs/{job['id']}/start", {"worker": "w", "attempt": 1})

    assert refused.status == 409
    assert spans.one("GET /v1/jobs/{job_id}").status.status_code is StatusCode.UNSET
    assert spans.one("POST /v1/jobs/{job_id}/start").status.status_code is StatusCode.UNSET  # the caller's mistake


UNTRACED: Final = """
import sys, tempfile
from pathlib import Path
from tests.surfaces.http.serving import served
with tempfile.TemporaryDirectory() as folder, served(Path(folder), reconcile_s=None) as service:
    said = {"requests": [{"verb": "enqueue", "kind": "scan"}]}
    one = service.ask("POST", "/v1/jobs", {"kind": "scan"}, headers={"traceparent": sys.argv[1]}).said
    (many,) = service.ask("POST", "/v1/batch", said, headers={"traceparent": sys.argv[1]}).said["answers"]
    nonsense = service.ask("POST", "/v1/jobs", {"kind": "scan"}, headers={"traceparent": "00-zz"}).said
    assert "opentelemetry.trace" not in sys.modules
    print(one["traceparent"], many["job"]["traceparent"], nonsense["traceparent"])
"""


@pytest.mark.requirement("STD-17")
def test_trace_goes_on_though_nobody_traces_in_the_service() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", UNTRACED, INCOMING["traceparent"]], capture_output=True, text=True, check=True
    )

    assert ran.stdout.split() == [INCOMING["traceparent"], INCOMING["traceparent"], "None"]
