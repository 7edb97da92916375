"""OpenTelemetry, as far as Detent speaks it: spans, the context in which they stand, and the headers that carry it.

Imported only where somebody traces (see `tracing`). Without an SDK nothing is recorded, and a context that came from
elsewhere is handed on all the same.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Final

from opentelemetry import propagate, trace
from opentelemetry.context import Context, attach
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
    TracerProvider,
)
from opentelemetry.util.types import AttributeValue

from detent.telemetry.redaction import Redaction, redacted_text
from detent.telemetry.traceparent import parts_of
from detent.version import __version__

Attributes = Mapping[str, AttributeValue]
SYSTEM: Final = {"messaging.system": "detent"}
_RULES: Final = Redaction.of(os.environ.get("DETENT_REDACT"))  # spans leave the machine, as logs do


@contextmanager
def producing(name: str, attributes: Attributes) -> Iterator[Span]:
    """Whoever makes jobs: a span for the length of a block, the current one in there, in the caller's own context."""
    with _tracer().start_as_current_span(name, None, SpanKind.PRODUCER, attributes) as span:
        yield span


@contextmanager
def serving(name: str, attributes: Attributes, headers: Mapping[str, str]) -> Iterator[Span]:
    """Whoever answers requests: the same, in the context that the request brought along."""
    with _tracer().start_as_current_span(name, context_from(headers), SpanKind.SERVER, attributes) as span:
        yield span


def begun(
    name: str, attributes: Attributes, *, parent: str | None, links: Sequence[Link] = (), start_ns: int | None = None
) -> Span:
    """A consumer's span, which whoever began it has to end. Its parent is what the job says, and nothing else here."""
    return _tracer().start_span(name, context_of(parent), SpanKind.CONSUMER, attributes, links, start_ns)


def link_to(traceparent: str | None, attributes: Attributes | None = None) -> list[Link]:
    """One, or none where there is nothing to link to."""
    remote = _remote(traceparent)
    return [] if remote is None else [Link(remote, attributes)]


def context_of(traceparent: str | None) -> Context:
    """A context in which this is the current span, of another process; an empty one without it."""
    remote = _remote(traceparent)
    return Context() if remote is None else trace.set_span_in_context(NonRecordingSpan(remote), Context())


def context_from(headers: Mapping[str, str]) -> Context:
    """The context that a request brings along, by the propagators that are configured; names are in lower case."""
    return propagate.extract(headers, Context())


def enter(context: Context) -> None:
    """From here on, in this task or thread: handlers run in a copy of the context, which ends with them."""
    attach(context)


def enter_span(span: Span) -> None:
    attach(trace.set_span_in_context(span))


def traceparent(span: Span) -> str | None:
    """As W3C has it; None for a span that is in no trace."""
    context = span.get_span_context()
    if not context.is_valid:
        return None
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags & 1:02x}"


def has_provider() -> bool:
    """Whether anybody has set one: the API alone makes spans that nobody sees."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def current_traceparent() -> str | None:
    return traceparent(trace.get_current_span())


def headers() -> dict[str, str]:
    """Of the current context, for a call to somebody else."""
    carried: dict[str, str] = {}
    propagate.inject(carried)
    return carried


def fail(span: Span, kind: str, message: str, stack: str = "") -> None:
    """That it went wrong, as `record_exception` would say it of an exception that only another process had."""
    said, shown = redacted_text(message, _RULES), redacted_text(stack, _RULES)
    attributes = {"exception.type": kind, "exception.message": said, "exception.stacktrace": shown}
    span.add_event("exception", {name: value for name, value in attributes.items() if value})
    span.set_status(Status(StatusCode.ERROR, f"{kind}: {said}"))


def flush(timeout_s: float) -> None:
    force = getattr(trace.get_tracer_provider(), "force_flush", None)
    if force is not None:
        force(round(timeout_s * 1_000))


def _remote(traceparent: str | None) -> SpanContext | None:
    parts = parts_of(traceparent)
    if parts is None:
        return None
    trace_id, span_id, flags = (int(part, 16) for part in parts)
    return SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(flags))


def _tracer() -> Tracer:
    return _tracer_of(trace.get_tracer_provider())


@lru_cache(1)
def _tracer_of(provider: TracerProvider) -> Tracer:
    """Made once for each provider: an SDK makes a new one each time that it is asked."""
    return provider.get_tracer("detent", __version__)
