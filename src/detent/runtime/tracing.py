"""A worker's part in a trace: one span for each claim that got something, one for each attempt at a job.

A span of an attempt is the current one where its handler runs. Its parent is the span that made the job, whenever that
was: so every attempt is found by the trace id on the job's record. Where time lies between them, a link says so too.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from detent.kernel import Job
from detent.telemetry import tracing
from detent.telemetry.traceparent import traceparent_of

if TYPE_CHECKING:
    from detent.runtime.faults import Fault
    from detent.runtime.run import Run

LINKS_MAX: Final = 128  # as many as an SDK keeps of one span by itself


def begin(run: "Run") -> None:
    """Begin the span of an attempt, if anybody traces."""
    if not _has_provider():
        return
    from detent.telemetry import otel

    job, made_by = run.job, _made_by(run.job)
    why = "retry" if job.attempt > 1 else "delayed" if _is_delayed(job) else None
    links = [] if why is None else otel.link_to(made_by, {"detent.link": why})
    run.span = otel.begun(f"process {job.spec.kind}", _attributes(job), parent=made_by, links=links)


def enter(run: "Run") -> None:
    """Begin it, and make it the current one: in a context of the handler's own."""
    begin(run)
    if run.span is None:
        enter_from(None, run.job)
    else:
        from detent.telemetry import otel

        otel.enter_span(run.span)


def enter_from(traceparent: str | None, job: Job) -> None:
    """Where there is no span of the attempt: in a child process, whose worker has it, and where nobody traces.

    Then its context, or else the one in which the job was made, is the current one.
    """
    if traceparent is None and not tracing.is_loaded():
        return
    from detent.telemetry import otel

    otel.enter(otel.context_of(traceparent or _made_by(job)))


def carried(run: "Run") -> str | None:
    """What a child process is told of the span."""
    if run.span is None:
        return None
    from detent.telemetry import otel

    return otel.traceparent(run.span)


def end(run: "Run", fault: "Fault | None") -> None:
    """With what the handler came to. That it was told to stop is no error."""
    span, run.span = run.span, None
    if span is None:
        return
    if fault is not None and not fault.is_stop and not run.is_killed:
        from detent.telemetry import otel

        otel.fail(span, fault.names[0], fault.message, fault.trace)
    elif fault is not None and run.stop is not None:
        span.set_attribute("detent.stopped", run.stop.reason)
    span.end()


def claimed(jobs: Sequence[Job], queues: Sequence[str], worker: str, sent_ns: int) -> None:
    """Tell of a claim once it has got something: a worker that finds nothing all night has nothing to tell."""
    if not _has_provider():
        return
    from detent.telemetry import otel

    said: dict[str, Any] = {
        **otel.SYSTEM,
        "messaging.operation.type": "receive",
        "messaging.operation.name": "claim",
        "messaging.destination.name": ",".join(queues),
        "messaging.client.id": worker,
        "messaging.batch.message_count": len(jobs),
        "detent.worker": worker,
        "detent.queues": tuple(queues),
    }
    links = [link for job in jobs[:LINKS_MAX] for link in otel.link_to(_made_by(job), {"detent.job.id": job.id})]
    otel.begun(f"claim {','.join(queues)}", said, parent=None, links=links, start_ns=sent_ns).end()


def headers_of(kept: str | None, job_id: str) -> dict[str, str]:
    """For calls of a handler: of the span that is current there, else of the one that made the job."""
    headers: dict[str, str] = {}
    if tracing.is_within_span():
        from detent.telemetry import otel

        headers = {**otel.headers()}
    traceparent = traceparent_of(kept, job_id)
    if "traceparent" not in headers and traceparent is not None:
        headers["traceparent"] = traceparent
    return headers


def _has_provider() -> bool:
    if not tracing.is_loaded():
        return False
    from detent.telemetry import otel

    return otel.has_provider()


def _attributes(job: Job) -> dict[str, Any]:
    from detent.telemetry.otel import SYSTEM

    spec = job.spec
    said: dict[str, Any] = {
        **SYSTEM,
        "messaging.operation.type": "process",
        "messaging.operation.name": "process",
        "messaging.destination.name": spec.queue,
        "messaging.message.id": spec.id,
        "messaging.message.conversation_id": spec.correlation_id,
        "messaging.client.id": job.owner,
        "detent.job.id": spec.id,
        "detent.job.kind": spec.kind,
        "detent.queue": spec.queue,
        "detent.attempt": job.attempt,
        "detent.correlation_id": spec.correlation_id,
        "detent.tenant": spec.tenant,
        "detent.worker": job.owner,
        "detent.trace_id": spec.trace_id if _made_by(job) is None else None,
    }
    return {name: value for name, value in said.items() if value is not None}


def _made_by(job: Job) -> str | None:
    return traceparent_of(job.spec.trace_id, job.spec.id)


def _is_delayed(job: Job) -> bool:
    return job.spec.run_at is not None and job.spec.run_at > job.created_at
