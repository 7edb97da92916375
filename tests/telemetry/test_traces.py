"""One trace from whoever enqueues, through the worker, to whomever its handler calls; in every isolation."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.context import attach, detach
from opentelemetry.trace import SpanKind, StatusCode

import detent
from detent import App, Policy, Retry
from detent.runtime import Context, Isolation
from detent.telemetry import otel
from detent.telemetry.traceparent import trace_id_of, traceparent_of
from tests.app.playing import in_handler
from tests.runtime.working import handler, on_loop, until, working
from tests.telemetry import tracing
from tests.telemetry.tracing import Called, Spans, said, trace_id, traceparent

SOON = Policy(retry=Retry(max_attempts=2, base_s=0.01))
CALLERS: dict[Isolation, Callable[..., Any]] = {
    "async": tracing.call_on_the_loop,
    "thread": tracing.call,
    "process": tracing.call,
}


@pytest.mark.requirement("STD-17")
@pytest.mark.parametrize("isolation", ["async", "thread", "process"])
def test_trace_goes_from_enqueue_through_the_handler_to_its_own_calls(
    url: str, spans: Spans, called: Called, isolation: Isolation
) -> None:
    async def scene() -> None:
        async with working(url, handler("call", CALLERS[isolation], isolation)) as at:
            job = await at.done("call", {"url": called.url}, correlation_id="order-7")

            enqueued, processed, claimed = (
                spans.one(name) for name in ("enqueue call", "process call", "claim default")
            )
            assert job.traceparent == traceparent(enqueued)
            assert job.trace_id == trace_id(enqueued) == trace_id(processed)
            assert processed.parent is not None
            assert processed.parent.span_id == enqueued.context.span_id
            assert [headers["traceparent"] for headers in called.headers] == [traceparent(processed)]
            assert [link.context.span_id for link in claimed.links] == [enqueued.context.span_id]
            assert (enqueued.kind, claimed.kind, processed.kind) == (
                SpanKind.PRODUCER,
                SpanKind.CONSUMER,
                SpanKind.CONSUMER,
            )
            assert {event.trace_id for event in await at.client.history(job.id)} == {job.trace_id}

    on_loop(scene)


@pytest.mark.requirement("STD-17")
@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_client_that_knows_nothing_of_traces_is_given_the_same_headers(
    url: str, spans: Spans, called: Called, isolation: Isolation
) -> None:
    async def scene() -> None:
        async with working(url, handler("call", tracing.call_by_hand, isolation, context=True)) as at:
            job = await at.done("call", {"url": called.url}, correlation_id="order-7")

            (headers,) = called.headers
            assert headers["traceparent"] == traceparent(spans.one("process call"))
            assert (headers["x-correlation-id"], headers["x-job-id"]) == ("order-7", job.id)

    on_loop(scene)


@pytest.mark.requirement("STD-17")
def test_spans_say_which_job_and_which_attempt(url: str, spans: Spans) -> None:
    async def scene() -> None:
        async with working(url, handler("call", lambda: None, "thread"), queues=("ocr",), name="w1") as at:
            job = await at.done("call", queue="ocr", correlation_id="order-7")

            names = {"detent.job.id": job.id, "detent.job.kind": "call", "detent.queue": "ocr"}
            common = {**names, "detent.correlation_id": "order-7", "messaging.system": "detent"}
            assert said(spans.one("enqueue call")).items() >= common.items()
            assert said(spans.one("enqueue call"))["messaging.operation.type"] == "send"
            processed = said(spans.one("process call"))
            assert processed.items() >= {**common, "detent.attempt": 1, "detent.worker": "w1"}.items()
            assert (processed["messaging.operation.type"], processed["messaging.message.id"]) == ("process", job.id)
            claimed = said(spans.one("claim ocr"))
            assert (claimed["messaging.operation.type"], claimed["messaging.batch.message_count"]) == ("receive", 1)

    on_loop(scene)


@pytest.mark.requirement("STD-17")
@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_failed_attempt_says_why_and_its_retry_is_linked(url: str, spans: Spans, isolation: Isolation) -> None:
    async def scene() -> None:
        async with working(url, handler("fail", tracing.fail, isolation)) as at:
            job = await at.done("fail", policy=SOON)

            first, second = spans.all("process fail")
            enqueued = spans.one("enqueue fail")
            assert (job.state, [said(each)["detent.attempt"] for each in (first, second)]) == ("dead_lettered", [1, 2])
            assert {trace_id(each) for each in (enqueued, first, second)} == {job.trace_id}
            assert first.links == ()
            assert [(link.context.span_id, (link.attributes or {})["detent.link"]) for link in second.links] == [
                (enqueued.context.span_id, "retry")
            ]
            assert first.status.status_code is StatusCode.ERROR
            assert first.status.description == "LookupError: no such page"
            (event,) = first.events
            attributes = dict(event.attributes or {})
            assert (event.name, attributes["exception.type"]) == ("exception", "LookupError")
            assert "in fail" in str(attributes["exception.stacktrace"])

    on_loop(scene)


def test_delayed_job_is_linked_to_what_made_it(url: str, spans: Spans) -> None:
    async def scene() -> None:
        async with working(url, handler("call", lambda: None, "thread")) as at:
            await at.done("call", delay_s=0.05)

            (link,) = spans.one("process call").links
            assert dict(link.attributes or {}) == {"detent.link": "delayed"}
            assert link.context.span_id == spans.one("enqueue call").context.span_id

    on_loop(scene)


def test_result_that_nobody_can_keep_is_an_error_of_the_attempt(url: str, spans: Spans) -> None:
    async def scene() -> None:
        async with working(url, handler("call", lambda: {1}, "thread")) as at:
            await at.done("call", policy=SOON)

            assert spans.all("process call")[0].status.status_code is StatusCode.ERROR

    on_loop(scene)


def test_payload_that_does_not_fit_is_an_error_of_the_attempt(url: str, spans: Spans) -> None:
    async def scene() -> None:
        async with working(url, handler("call", lambda: None, "thread")) as at:
            await at.done("call", [1])

            assert spans.one("process call").status.status_code is StatusCode.ERROR

    on_loop(scene)


def test_handler_that_is_told_to_stop_is_no_error(url: str, spans: Spans) -> None:
    async def linger(ctx: Context) -> None:
        while True:
            await ctx.acheck()
            await asyncio.sleep(0.01)

    async def scene() -> None:
        async with working(url, handler("linger", linger, context=True), grace_s=0.1) as at:
            job = await at.client.enqueue("linger")
            await until(lambda: bool(at.worker.live))
            await at.client.cancel(job.id)
            await at.ended(job)
            await until(lambda: bool(spans.all("process linger")))

            span = spans.one("process linger")
            assert (span.status.status_code, said(span)["detent.stopped"]) == (StatusCode.UNSET, "cancel")

    on_loop(scene)


@pytest.mark.requirement("STD-17")
def test_job_made_in_a_handler_goes_on_with_its_trace(url: str, spans: Spans) -> None:
    app = App(url)

    @app.job
    def child() -> None: ...

    @app.job
    async def parent() -> str:
        return (await child.aenqueue()).id

    async def scene() -> None:
        async with app, working(url, *app.handlers()) as at:
            made = await at.ended(await (await parent.aenqueue()).ajob())
            job = await at.client.wait(made.result, timeout_s=20)

            enqueued, outer = spans.one(f"enqueue {child.kind}"), spans.one(f"process {parent.kind}")
            assert (job.parent_job_id, job.traceparent) == (made.id, traceparent(enqueued))
            assert enqueued.parent is not None
            assert enqueued.parent.span_id == outer.context.span_id
            assert job.trace_id == made.trace_id

    on_loop(scene)


def test_batch_is_one_span_that_all_of_its_jobs_come_from(url: str, spans: Spans) -> None:
    with detent.connect(url) as client:
        jobs = client.enqueue_many([{"kind": "a"}, {"kind": "b"}, {"kind": "c", "trace_id": "mine"}])

    span = spans.one("enqueue")
    assert [job.trace_id for job in jobs if isinstance(job, detent.Job)] == [trace_id(span), trace_id(span), "mine"]
    assert said(span)["messaging.batch.message_count"] == 3


def test_refusal_is_an_error_of_the_enqueue(url: str, spans: Spans) -> None:
    with detent.connect(url) as client:
        client.enqueue("a", job_id="1")
        with pytest.raises(detent.Refused):
            client.enqueue("a", {"other": 1}, job_id="1")

    first, second = spans.all("enqueue a")
    assert (first.status.status_code, second.status.status_code) == (StatusCode.UNSET, StatusCode.ERROR)


def test_trace_id_that_a_caller_gives_comes_first(url: str, spans: Spans) -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"

    async def scene() -> None:
        async with working(url, handler("call", lambda: None, "thread")) as at:
            job = await at.done("call", trace_id=trace)

            assert (job.trace_id, job.traceparent) == (trace, None)
            assert trace_id(spans.one("process call")) == trace

    on_loop(scene)


def test_repeat_of_a_request_is_one_whatever_span_it_is_made_in(url: str, spans: Spans) -> None:
    with detent.connect(url) as client:
        first = client.enqueue("a", request_id="r1")
        again = client.enqueue("a", request_id="r1")

    assert (again.id, again.answer, again.traceparent) == (first.id, "repeat", first.traceparent)


def test_span_of_the_program_is_the_parent_of_an_enqueue(url: str, spans: Spans) -> None:
    with detent.connect(url) as client, trace.get_tracer("test").start_as_current_span("request"):
        client.enqueue("a")

    parent = spans.one("enqueue a").parent
    assert parent is not None
    assert parent.span_id == spans.one("request").context.span_id


@pytest.mark.requirement("STD-17")
def test_without_a_provider_there_are_no_spans_and_a_context_from_elsewhere_is_handed_on(
    url: str, called: Called
) -> None:
    outside = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    async def scene() -> None:
        async with working(url, handler("call", tracing.call, "thread")) as at:
            none = await at.done("call", {"url": called.url})
            token = attach(otel.context_from({"traceparent": outside}))
            job = await at.done("call", {"url": called.url})
            detach(token)

            assert none.trace_id is None
            assert job.traceparent == outside
            assert [headers.get("traceparent") for headers in called.headers] == [None, outside]
            assert at.seen.lines == []

    on_loop(scene)


def test_job_of_a_parent_in_a_handler_keeps_the_whole_trace_without_a_provider(url: str) -> None:
    outside = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with App(url) as app:

        @app.job
        def page() -> None: ...

        parent = app.client().enqueue("book", trace_id=outside)
        job = in_handler(parent, lambda: page.enqueue().job())

    assert job.traceparent == outside


def test_nobody_imports_opentelemetry_who_does_not_trace(url: str) -> None:
    program = f"""
import sys
import detent, detent.runtime, detent.app
with detent.connect({url!r}) as client:
    client.enqueue("a")
print(sorted(name for name in sys.modules if name.startswith("opentelemetry")))
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert answer.stdout.strip() == "[]"


def test_request_brings_its_context_along(url: str, spans: Spans) -> None:
    outside = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with detent.connect(url) as client, otel.serving("POST /jobs", {}, {"traceparent": outside}):
        job = client.enqueue("a")

    served, enqueued = spans.one("POST /jobs"), spans.one("enqueue a")
    assert (served.kind, trace_id(served), job.trace_id) == (SpanKind.SERVER, outside[3:35], outside[3:35])
    assert enqueued.parent is not None
    assert enqueued.parent.span_id == served.context.span_id


@pytest.mark.parametrize(
    ("kept", "shown", "carried"),
    [
        (None, None, None),
        ("t1", "t1", None),
        ("0" * 32, "0" * 32, None),
        (f"00-{'0' * 32}-b7ad6b7169203331-01", f"00-{'0' * 32}-b7ad6b7169203331-01", None),
        (f"00-{'a' * 32}-b7ad6b7169203331-01", "a" * 32, f"00-{'a' * 32}-b7ad6b7169203331-01"),
        ("a" * 32, "a" * 32, f"00-{'a' * 32}-6b86b273ff34fce1-01"),
    ],
)
def test_trace_id_may_be_any_name_an_id_or_a_whole_traceparent(
    kept: str | None, shown: str | None, carried: str | None
) -> None:
    assert (trace_id_of(kept), traceparent_of(kept, "1")) == (shown, carried)
