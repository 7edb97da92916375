"""New jobs as part of a trace: the span in which they are asked for, and its context on each of them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from detent.errors import DetentError
from detent.kernel.command import Command, Enqueue
from detent.store import Request
from detent.telemetry import tracing

if TYPE_CHECKING:
    from detent.client.views import Job

    Ask = Callable[[Sequence[Request]], Awaitable[list[Job | DetentError]]]


async def asked(requests: Sequence[Request], ask: "Ask") -> "list[Job | DetentError]":
    """Ask for new jobs: where somebody traces, in a span of their own. A trace id that a caller gave stays."""
    if not tracing.is_loaded():
        return await ask(requests)
    from detent.telemetry import otel

    if not otel.has_provider():
        return await ask(_carrying(requests, otel.current_traceparent()))
    with otel.producing(_name(requests), _attributes(requests)) as span:
        answers = await ask(_carrying(requests, otel.traceparent(span)))
        refused = next((each for each in answers if isinstance(each, DetentError)), None)
        if refused is not None:
            otel.fail(span, type(refused).__name__, str(refused))
        return answers


def _carrying(requests: Sequence[Request], traceparent: str | None) -> Sequence[Request]:
    if traceparent is None:
        return requests
    return [_with(each, traceparent) if _is_untraced(each.command) else each for each in requests]


def _is_untraced(command: Command) -> bool:
    """What is done to a job that is there belongs to the job's own trace."""
    return isinstance(command, Enqueue) and command.trace_id is None


def _with(request: Request, traceparent: str) -> Request:
    return replace(request, command=replace(request.command, trace_id=traceparent))


def _name(requests: Sequence[Request]) -> str:
    kind = _common(requests, "kind")
    return "enqueue" if kind is None else f"enqueue {kind}"


def _attributes(requests: Sequence[Request]) -> dict[str, Any]:
    """What all of them have in common; of one alone, whose it is."""
    from detent.telemetry.otel import SYSTEM

    queue = _common(requests, "queue")
    said: dict[str, Any] = {
        **SYSTEM,
        "messaging.operation.type": "send",
        "messaging.operation.name": "enqueue",
        "messaging.destination.name": queue,
        "detent.queue": queue,
        "detent.job.kind": _common(requests, "kind"),
        "detent.correlation_id": _common(requests, "correlation_id"),
    }
    if len(requests) == 1:
        said["messaging.message.id"] = said["detent.job.id"] = requests[0].job_id
        said["detent.correlation_id"] = said["detent.correlation_id"] or requests[0].job_id
    else:
        said["messaging.batch.message_count"] = len(requests)
    return {name: value for name, value in said.items() if value is not None}


def _common(requests: Sequence[Request], field: str) -> str | None:
    values = {getattr(each.command, field) for each in requests if isinstance(each.command, Enqueue)}
    return values.pop() if len(values) == 1 else None
