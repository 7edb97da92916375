"""The service's own log: a line for each request, which nobody can forge, and in which nobody's secrets are."""

import json
import logging
import time

import pytest

from detent.surfaces.http.service import Service
from detent.surfaces.http.streaming import Stream
from detent.surfaces.http.telling import PATH_CHARS_MAX, escaped
from detent.surfaces.telemetry.log_lines import JsonLines
from detent.telemetry.redaction import Redaction
from tests.surfaces.http.raw import exchanged, head
from tests.surfaces.http.serving import WAIT_S, Served

LOGGERS = ("detent.http", "uvicorn.error", "uvicorn.access")


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    for name in LOGGERS:
        caplog.set_level(logging.DEBUG, name)
    return caplog


def until(lines: pytest.LogCaptureFixture, text: str) -> None:
    """What is told of a request may be told after it was answered."""
    by_s = time.monotonic() + WAIT_S
    while text not in lines.text:
        assert time.monotonic() < by_s, lines.text
        time.sleep(0.001)


def test_request_has_one_line(service: Served, lines: pytest.LogCaptureFixture) -> None:
    service.ask("GET", "/v1/queues/a%2Fb?")
    until(lines, "GET /v1/queues/a%2Fb -> ")

    (line,) = [record.getMessage() for record in lines.records if record.name == "detent.http.access"]
    assert line.startswith("GET /v1/queues/a%2Fb -> 200, ")


def test_neither_tokens_nor_queries_nor_payloads_are_in_the_log(
    service: Served, lines: pytest.LogCaptureFixture
) -> None:
    service.ask("POST", "/v1/jobs", {"kind": "k", "payload": "hunter2", "context_ptr": "hunter3"})
    service.ask("POST", "/v1/jobs", body=b'{"kind": "hunter4')
    service.ask("GET", "/v1/jobs?state=hunter5&limit=0")
    service.ask("GET", "/v1/session", token="hunter6")
    made = service.ask("POST", "/v1/tokens", {"name": "secretive", "scopes": ["read"]}).said["text"]
    until(lines, "POST /v1/tokens -> 201")

    assert "hunter" not in lines.text
    assert service.token not in lines.text
    assert made not in lines.text
    assert made.split("_", 2)[2] not in lines.text


@pytest.mark.parametrize(
    "path", ["/v1/x%0AGET%20/fake", "/v1/\x1b[31mred", "/v1/\u202e", "/v1/" + "x" * 5_000, "/a\tb"]
)
def test_line_cannot_be_forged_by_a_path(service: Served, lines: pytest.LogCaptureFixture, path: str) -> None:
    exchanged(service, head(service, "GET", path))
    service.ask("GET", "/healthz")
    until(lines, "GET /healthz")

    for record in lines.records:
        message = record.getMessage()
        assert message.isprintable()
        assert len(message) < PATH_CHARS_MAX * 4 + 100


def test_line_cannot_be_forged_by_a_method(service: Served, lines: pytest.LogCaptureFixture) -> None:
    service.ask("X" * 300, "/v1/jobs")
    until(lines, " -> 405")

    assert "X" * 17 not in lines.text


def test_whatever_would_break_a_line_is_escaped() -> None:
    assert escaped("a\nb\r\x1b\x7f\u2028é c", 100) == r"a\x0ab\x0d\x1b\x7f\x2028\xe9\x20c"
    assert escaped("x" * 10, 5) == "xxxxx…"


def test_fault_is_told_by_its_place_and_a_reference_and_without_what_was_sent(
    service: Served, lines: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Service, grant: object) -> None:
        raise RuntimeError("hunter2\nforged line")

    monkeypatch.setattr(Service, "session_of", broken)
    answer = service.ask("GET", "/v1/session")
    until(lines, "GET /v1/session -> 500")

    assert (answer.status, answer.code) == (500, "internal_error")
    assert b"hunter2" not in answer.body
    (line,) = [record.getMessage() for record in lines.records if record.name == "detent.http"]
    assert line.split("(")[1].split(")")[0] in answer.said["detail"]
    assert "RuntimeError" in line
    assert "test_logs.py" in line
    assert "hunter2" not in lines.text


def test_fault_while_an_answer_is_sent_is_told_in_the_same_way(
    service: Served, lines: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: Stream, scope: object, receive: object, send: object) -> None:
        raise RuntimeError("hunter2\nforged line")

    monkeypatch.setattr(Stream, "__call__", broken)
    answer = service.ask("GET", "/v1/events", headers={"accept": "text/event-stream"})

    assert (answer.status, answer.code) == (500, "internal_error")
    assert answer.headers["x-content-type-options"] == "nosniff"
    until(lines, "GET /v1/events -> 500")
    assert "RuntimeError" in lines.text
    assert "hunter2" not in lines.text


@pytest.mark.requirement("STD-17")
def test_line_says_who_asked_about_which_job_and_trace(service: Served, lines: pytest.LogCaptureFixture) -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    asked = {"kind": "scan", "queue": "ocr", "correlation_id": "order-7"}
    made = service.ask("POST", "/v1/jobs", asked, headers={"traceparent": f"00-{trace}-b7ad6b7169203331-01"}).said
    until(lines, "POST /v1/jobs -> 201")
    service.ask("POST", f"/v1/jobs/{made['id']}/complete", {"worker": "w", "attempt": 1})
    until(lines, "/complete -> 409")
    first, second = [vars(each) for each in lines.records if each.name == "detent.http.access"]

    assert (first["asker"], first["job_id"], first["job_kind"], first["job_queue"]) == (
        "root",
        made["id"],
        "scan",
        "ocr",
    )
    assert (first["job_correlation_id"], first["job_trace_id"]) == ("order-7", trace)
    assert second["job_id"] == made["id"]
    told = json.loads(JsonLines({}, Redaction.of("")).format(lines.records[-1]))
    assert (told["job"], told["fields"]) == (made["id"], {"asker": "root"})
