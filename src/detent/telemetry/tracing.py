"""Whether anybody traces. What is done then is in `otel`, which imports OpenTelemetry, and is imported only then."""

import sys

from detent.telemetry.traceparent import trace_id_of


def is_loaded() -> bool:
    """Whoever sets a provider has imported OpenTelemetry: where nobody has, there is nobody to tell."""
    return "opentelemetry.trace" in sys.modules


def is_within_span() -> bool:
    """Whether what is done here, in this task or thread, is part of somebody's trace."""
    if not is_loaded():
        return False
    from detent.telemetry import otel

    return otel.current_traceparent() is not None


def current_trace_id() -> str | None:
    """Of the span that what is done here is part of."""
    if not is_loaded():
        return None
    from detent.telemetry import otel

    return trace_id_of(otel.current_traceparent())


def flush(timeout_s: float) -> None:
    """Send what is still to be sent, as far as that goes: for a process that ends without any other word."""
    if is_loaded():
        from detent.telemetry import otel

        otel.flush(timeout_s)
