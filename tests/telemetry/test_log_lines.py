"""One record is one line, of text or of JSON, whatever is in it; and nobody reads a secret there."""

import json
import logging
import sys
from typing import Any

import pytest

from detent.runtime.faults import fault_of
from detent.runtime.log_fields import FAULT, STACK
from detent.surfaces.telemetry.logs import JobFields, LogFormat, LogSettings, formatter_of
from detent.telemetry.redaction import REDACTED, Redaction
from tests.telemetry.tracing import Spans

FORGED = (
    "done\n2026-01-01T00:00:00.000Z INFO detent.worker: all is well\r\x1b[31mred\x1b[0m \u202eesrever\u2028\x00 \ud800"
)


def line(record: logging.LogRecord, form: LogFormat = "text", **settings: Any) -> str:
    JobFields().filter(record)
    return formatter_of(LogSettings(format=form, **settings), Redaction()).format(record)


def record(message: str = "hello", *args: Any, level: int = logging.INFO, **more: Any) -> logging.LogRecord:
    said = {"name": "shop", "levelno": level, "levelname": logging.getLevelName(level), "msg": message, "args": args}
    return logging.makeLogRecord({**said, "created": 1_800_000_000.25, "msecs": 250.0, **more})


def failing() -> logging.LogRecord:
    try:
        raise LookupError(FORGED)
    except LookupError:
        return record("it went wrong", level=logging.ERROR, exc_info=sys.exc_info())


def test_text_is_the_moment_the_level_the_logger_and_the_message() -> None:
    assert line(record("page %d", 7)) == "2027-01-15T08:00:00.250Z INFO shop: page 7"
    assert line(record(), is_watched=True) == "08:00:00 INFO shop: hello"
    assert line(record(process=7), is_one_of_several=True) == "2027-01-15T08:00:00.250Z INFO [7] shop: hello"


@pytest.mark.parametrize("where", ["message", "argument", "logger", "job"])
def test_text_of_others_forges_no_line(where: str) -> None:
    given = {
        "message": record(FORGED),
        "argument": record("%s", FORGED),
        "logger": record(name=FORGED),
        "job": record(job_id=FORGED),
    }

    written = line(given[where])

    assert written.isprintable()
    assert r"\n2026-01-01" in written
    assert r"\x1b[31mred\x1b[0m \u202eesrever\u2028\x00 \ud800" in written


def test_lines_of_a_traceback_are_marked() -> None:
    first, *below = line(failing()).split("\n")

    assert first.endswith("ERROR shop: it went wrong")
    assert all(each.startswith("    | ") and each.isprintable() for each in below)
    assert any("LookupError: done" in each for each in below)


def test_what_a_handler_raised_in_another_process_stands_below_its_line_once() -> None:
    try:
        raise LookupError("no such page")
    except LookupError as error:
        fault = fault_of(error)
    about: dict[str, Any] = {FAULT: fault}
    failed = record("scan failed: %s\n%s", fault.message, fault.trace.rstrip(), **about)

    first, *below = line(failed).split("\n")
    told = json.loads(line(failed, "json"))

    assert first.endswith("scan failed: no such page")
    assert below == [f"    | {each}" for each in fault.trace.splitlines()]
    assert told["message"] == "scan failed: no such page"
    assert told["exception"] == {"type": "LookupError", "message": "no such page", "stack": fault.trace}


def test_place_where_the_loop_stood_still_is_apart_from_the_message() -> None:
    about: dict[str, Any] = {STACK: "File x\n  y()"}
    stalled = record("stood still\n%s", "File x\n  y()", **about)

    assert line(stalled).split("\n")[1:] == ["    | File x", "    |   y()"]
    told = json.loads(line(stalled, "json"))
    assert (told["message"], told["stack"]) == ("stood still", "File x\n  y()")


def test_json_has_the_fields_of_the_record_and_of_its_job() -> None:
    ids: dict[str, Any] = {"job_id": "7", "job_kind": "scan", "job_queue": "ocr", "job_attempt": 2, "job_worker": "w1"}
    given = record(**ids, job_correlation_id="order-7", job_trace_id="a" * 32, page=3)

    assert json.loads(line(given, "json")) == {
        "at": "2027-01-15T08:00:00.250Z",
        "level": "INFO",
        "logger": "shop",
        "message": "hello",
        "job": "7",
        "kind": "scan",
        "queue": "ocr",
        "attempt": 2,
        "worker": "w1",
        "correlation_id": "order-7",
        "trace_id": "a" * 32,
        "fields": {"page": 3},
    }


def test_json_of_a_process_says_whose_it_is() -> None:
    told = json.loads(line(record(), "json", worker="w1", is_one_of_several=True))

    assert told["worker"] == "w1"
    assert isinstance(told["process"], int)


@pytest.mark.parametrize(
    "given", [failing(), record(FORGED), record(page=FORGED), record(page=float("nan")), record(page={(1, 2): {3}}),
              record(page=[float("inf")], other=object())]
)  # fmt: skip
def test_json_is_one_line_that_can_be_read_whatever_is_in_it(given: logging.LogRecord) -> None:
    written = line(given, "json")

    assert written.isascii()
    assert written.isprintable()
    assert json.loads(written, parse_constant=pytest.fail)["logger"] == "shop"


def test_value_that_cannot_be_shown_is_no_reason_to_lose_the_line() -> None:
    class Odd:
        def __str__(self) -> str:
            raise RuntimeError

    assert "Odd, which cannot be shown" in line(record(page=Odd()), "json")


@pytest.mark.parametrize("form", ["text", "json"])
def test_secrets_are_left_out(form: LogFormat) -> None:
    try:
        raise LookupError("no database at postgresql://app:hunter2@db")
    except LookupError:
        failed = record("sent %s", "Bearer hunter2", exc_info=sys.exc_info(), card={"Token": "hunter2", "page": 1})

    written = line(failed, form)

    assert "hunter2" not in written
    assert f"sent Bearer {REDACTED}" in written


def test_line_within_a_span_has_its_trace(spans: Spans) -> None:
    from opentelemetry import trace

    with trace.get_tracer("test").start_as_current_span("request") as span:
        told = json.loads(line(record(), "json"))

    assert told["trace_id"] == f"{span.get_span_context().trace_id:032x}"
