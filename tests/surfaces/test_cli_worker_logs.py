"""What `detent worker` writes to its log, and where it sends its spans, as a person starts it with an app of theirs."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from detent.client import connect
from tests.surfaces.collecting import Collector, collecting
from tests.surfaces.worker_site import Workers, done, stopped

APP: Final = """
import logging

from opentelemetry import trace

from detent import App, PermanentError

app = App()
log = logging.getLogger("shop.pages")


@app.job
async def on_the_loop(page: int) -> None:
    log.info("page %d", page, extra={"card": {"token": "hunter2"}})


@app.job(isolation="thread")
def in_a_thread(page: int) -> None:
    log.info("page %d", page)


@app.job(isolation="process")
def in_a_process(page: int) -> None:
    with trace.get_tracer("shop").start_as_current_span("draw"):
        log.info("page %d", page)


@app.job(isolation="process")
def failing() -> None:
    raise PermanentError("at https://ann:hunter2@host\\n2026-01-01T00:00:00.000Z INFO detent.worker: all is well")
"""
KINDS: Final = ("on_the_loop", "in_a_thread", "in_a_process")


@pytest.fixture
def here(tmp_path: Path) -> Workers:
    workers = Workers(tmp_path, f"sqlite:///{tmp_path}/jobs.db?synchronous=normal")
    (tmp_path / "pages.py").write_text(APP, encoding="utf-8")
    return workers


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


def lines_of(err: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in err.splitlines()]


def ran(program: str, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)


def test_each_line_is_an_object_and_a_handlers_own_say_which_job_they_are_about(here: Workers) -> None:
    with here.client() as client, here.at_work("--log-format", "json", "--name", "w7", target="pages:app") as process:
        jobs = {kind: done(client, kind, {"page": 7}) for kind in KINDS}
        code, _, err = stopped(process)

    assert code == 0
    lines = lines_of(err)
    own = {line["kind"]: line for line in lines if line["logger"] == "shop.pages"}
    assert {kind: (line["job"], line["attempt"], line["worker"], line["queue"]) for kind, line in own.items()} == {
        kind: (job.id, 1, "w7", "default") for kind, job in jobs.items()
    }
    assert {line["correlation_id"] for line in own.values()} == {job.id for job in jobs.values()}
    assert {line["message"] for line in own.values()} == {"page 7"}
    assert own["on_the_loop"]["fields"] == {"card": {"token": "[redacted]"}}
    assert lines[0]["fields"]["queues"] == ["default"]
    assert {line["worker"] for line in lines} == {"w7"}


@pytest.mark.parametrize("form", ["text", "json"])
def test_error_of_a_handler_forges_no_line_and_tells_no_secret(here: Workers, form: str) -> None:
    with here.client() as client, here.at_work("--log-format", form, target="pages:app") as process:
        job = done(client, "failing")
        _, _, err = stopped(process)

    assert job.outcome == "failure"
    assert "hunter2" not in err
    assert not any(line.startswith("2026-01-01") for line in err.splitlines())
    if form == "json":
        (failed,) = [line for line in lines_of(err) if "exception" in line]
        assert (failed["job"], failed["exception"]["type"]) == (job.id, "PermanentError")
        assert "in failing" in failed["exception"]["stack"]


def test_flag_comes_before_the_environment_and_that_before_the_default(
    here: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DETENT_LOG_FORMAT", "json")
    with here.client() as client, here.at_work(target="pages:app") as process:
        done(client, "in_a_thread", {"page": 7})
        _, _, err = stopped(process)
    with here.client() as client, here.at_work("--log-format", "text", target="pages:app") as process:
        job = done(client, "in_a_thread", {"page": 7})
        _, _, text = stopped(process)

    assert lines_of(err)
    assert f"INFO shop.pages: page 7 (job {job.id}, attempt 1)" in text


def test_fields_of_ones_own_are_left_out(here: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DETENT_REDACT", "card")
    with here.client() as client, here.at_work("--log-format", "json", target="pages:app") as process:
        done(client, "on_the_loop", {"page": 7})
        _, _, err = stopped(process)

    (own,) = [line for line in lines_of(err) if line["logger"] == "shop.pages"]
    assert own["fields"] == {"card": "[redacted]"}


def test_program_that_sets_up_its_own_logs_keeps_them(here: Workers) -> None:
    own = "import logging\nlogging.basicConfig(format='mine %(message)s', level=logging.INFO)\n"
    (here.folder / "own.py").write_text(own + APP, encoding="utf-8")
    with here.client() as client, here.at_work("--log-format", "json", target="own:app") as process:
        done(client, "in_a_thread", {"page": 7})
        done(client, "in_a_process", {"page": 8})
        _, _, err = stopped(process)

    assert {"mine page 7", "mine page 8"} <= set(err.splitlines())
    assert "mine the program sets up its own logs, so they are not written as JSON" in err


@pytest.mark.requirement("STD-17")
@pytest.mark.parametrize("processes", ["1", "2"])
def test_spans_are_sent_where_the_environment_says(
    here: Workers, collector: Collector, monkeypatch: pytest.MonkeyPatch, processes: str
) -> None:
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    with connect(here.url) as client, here.at_work("--processes", processes, target="pages:app") as process:
        job = client.enqueue("in_a_process", {"page": 7}, trace_id=f"00-{trace_id}-b7ad6b7169203331-01")
        client.wait(job.id, timeout_s=40)
        code, _, _ = stopped(process)

    spans = {span.name: span for span in collector.spans(ExportTraceServiceRequest)}
    processed, drawn = spans["process in_a_process"], spans["draw"]
    assert code == 0
    assert {processed.trace_id.hex(), drawn.trace_id.hex()} == {trace_id}
    assert processed.parent_span_id.hex() == "b7ad6b7169203331"
    assert drawn.parent_span_id == processed.span_id
    assert collector.services(ExportTraceServiceRequest) == {"detent-worker"}


def test_spans_that_are_asked_for_and_cannot_be_sent_are_a_line_on_stderr() -> None:
    program = """
import sys
sys.modules["opentelemetry.sdk"] = None
from detent.surfaces.telemetry.tracing import set_up_tracing
set_up_tracing("detent-worker")()
"""
    environment = {"OTEL_TRACES_EXPORTER": "otlp"}
    answer = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )

    assert answer.stderr.startswith("spans are asked for, but not sent: opentelemetry.sdk")
    assert answer.stderr.rstrip().endswith("install it with: pip install 'detent[otel]'")


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, ""),
        ({"OTEL_TRACES_EXPORTER": "none"}, ""),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}, ""),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "spans are not sent by 'zipkin': there are otlp, by http/protobuf, and"),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "spans are not sent by 'grpc'"),
    ],
)
def test_nothing_is_set_up_that_is_not_asked_for_or_not_there(environment: dict[str, str], said: str) -> None:
    program = """
from detent.surfaces.telemetry.tracing import set_up_tracing
set_up_tracing("detent-worker")()
from detent.telemetry import otel
print(otel.has_provider())
"""
    answer = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )

    assert answer.stdout == "False\n"
    assert answer.stderr.startswith(said)
    assert bool(answer.stderr) == bool(said)
