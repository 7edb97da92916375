"""Spans of a process of Detent's own, sent where OpenTelemetry's variables say: for programs that set up none."""

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

ASKED_BY: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER")
HTTP: Final = "http/protobuf"


def set_up_tracing(service_name: str) -> Callable[[], None]:
    """What is called at the end, to send what is left. Nothing is done if nobody asks, or a provider is set already."""
    wanted = exporters_wanted(os.environ)
    if not wanted:
        return _nothing
    try:
        return _set_up(service_name, wanted)
    except ImportError as error:
        _say(f"spans are asked for, but not sent: {error.name} is missing; install it with: pip install 'detent[otel]'")
        return _nothing


def exporters_wanted(environ: Mapping[str, str]) -> list[str]:
    """By OpenTelemetry's own variables."""
    is_off = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if is_off or not any(environ.get(name) for name in ASKED_BY):
        return []
    names = (environ.get("OTEL_TRACES_EXPORTER") or "otlp").split(",")
    return [name.strip() for name in names if name.strip() not in ("", "none")]


def _set_up(service_name: str, wanted: list[str]) -> Callable[[], None]:
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from detent.telemetry import otel

    exporters = [exporter for name in wanted if (exporter := _exporter(name)) is not None]
    if otel.has_provider() or not exporters:
        return _nothing
    provider = TracerProvider(resource=Resource.create({} if _is_named() else {"service.name": service_name}))
    for exporter in exporters:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return provider.shutdown


def _exporter(name: str) -> "SpanExporter | None":
    if name == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr, formatter=lambda span: f"{span.to_json(indent=None)}\n")
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
    if name != "otlp" or (protocol or HTTP) != HTTP:
        _say(f"spans are not sent by '{name if name != 'otlp' else protocol}': there are otlp, by {HTTP}, and console")
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


def _is_named() -> bool:
    """Whether the environment says what the service is called."""
    resource = os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return bool(os.environ.get("OTEL_SERVICE_NAME")) or "service.name=" in resource


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _nothing() -> None:
    """There is nothing to send."""
