"""A store in a file, a provider that keeps its spans in memory, and somebody for handlers to call."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.telemetry.tracing import Called, Spans, listening


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Spans:
    """For the length of a test. OpenTelemetry's own way is for the length of a process."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return Spans(exporter)


@pytest.fixture
def called() -> Iterator[Called]:
    with listening() as called:
        yield called
