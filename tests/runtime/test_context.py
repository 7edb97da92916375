"""What a handler is told of its attempt, and what it leaves behind: progress, checkpoints, children."""

import asyncio
import logging
import time
from typing import Any

import pytest

from detent import InvalidArgument, Policy, Retry
from detent.errors import LeaseLost, TransientError
from detent.runtime import Context, Isolation
from tests.runtime import deeds
from tests.runtime.working import SHORT, handler, on_loop, until, working


def test_context_knows_job_attempt_and_fence(url: str) -> None:
    seen: list[Any] = []

    async def look(ctx: Context, page: int) -> None:
        seen.append((ctx.job.id, ctx.attempt, ctx.fence, ctx.job.payload, ctx.checkpoint, ctx.job.kind))

    async def scene() -> None:
        async with working(url, handler("look", look, context=True)) as at:
            job = await at.done("look", {"page": 3})

            assert seen == [(job.id, 1, (job.id, 1), {"page": 3}, None, "look")]

    on_loop(scene)


@pytest.mark.requirement("STD-17")
def test_ids_travel_to_the_log_and_to_the_calls_a_handler_makes(url: str, caplog: pytest.LogCaptureFixture) -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"

    async def call(ctx: Context) -> dict[str, str]:
        ctx.logger.warning("calling")
        return dict(ctx.trace_headers())

    async def scene() -> None:
        async with working(url, handler("call", call, context=True)) as at:
            job = await at.done("call", correlation_id="order-7", trace_id=trace)
            other = await at.done("call", trace_id="not w3c")

            headers = job.result
            assert headers["x-correlation-id"] == "order-7"
            assert headers["x-job-id"] == job.id
            version, trace_id, span, flags = headers["traceparent"].split("-")
            assert (version, trace_id, len(span), flags) == ("00", trace, 16, "01")
            assert other.result["x-trace-id"] == "not w3c"
            assert {event.trace_id for event in await at.client.history(job.id)} == {trace}
            record = caplog.records[0]
            assert (record.job_id, record.job_correlation_id, record.job_attempt) == (job.id, "order-7", 1)  # type: ignore[attr-defined]

    with caplog.at_level(logging.WARNING, "detent.job"):
        on_loop(scene)


def test_progress_is_told_at_most_once_a_second_and_its_last_word_always(url: str) -> None:
    async def advance(ctx: Context) -> float:
        began_s = time.monotonic()
        for step in range(30):
            ctx.progress(step / 30, f"step {step}")
            await asyncio.sleep(0.05)
        ctx.progress(1, "all")
        return time.monotonic() - began_s

    async def scene() -> None:
        async with working(url, handler("advance", advance, context=True)) as at:
            job = await at.done("advance")

            notes = [note for note in await at.client.notes(job.id) if note.kind == "progress"]
            assert 2 <= len(notes) <= job.result + 3  # the first, the last, and one that was due as it ended
            assert notes[-1].payload == {"fraction": 1.0, "message": "all"}
            assert job.progress is not None
            assert job.progress.message == "all"

    on_loop(scene)


@pytest.mark.parametrize("fraction", [-0.1, 1.5, float("nan")])
def test_progress_beyond_its_range_is_refused(url: str, fraction: float) -> None:
    async def advance(ctx: Context) -> str:
        with pytest.raises(InvalidArgument):
            ctx.progress(fraction)
        return "refused"

    async def scene() -> None:
        async with working(url, handler("advance", advance, context=True)) as at:
            assert (await at.done("advance")).result == "refused"

    on_loop(scene)


def test_failed_attempt_leaves_its_checkpoint_to_the_next(url: str) -> None:
    seen: list[Any] = []

    async def resume(ctx: Context) -> Any:
        seen.append(ctx.checkpoint)
        ctx.save({"page": ctx.attempt})
        assert ctx.checkpoint == {"page": ctx.attempt}
        if ctx.attempt < 3:
            raise TransientError("again")
        return ctx.job.checkpoint

    async def scene() -> None:
        for lifecycle in ("standard", "document"):
            seen.clear()
            async with working(url, handler("resume", resume, context=True)) as at:
                policy = Policy(retry=Retry(max_attempts=4, base_s=0.0))
                job = await at.done("resume", lifecycle=lifecycle, policy=policy, submit=True)

                assert seen == [None, {"page": 1}, {"page": 2}]
                assert job.result == {"page": 2}

    on_loop(scene)


def test_saved_checkpoint_is_written_with_the_next_renewal(url: str) -> None:
    async def save(ctx: Context) -> float:
        began_s = time.monotonic()
        for page in range(100):
            ctx.save(page)
            await asyncio.sleep(0.01)
        return time.monotonic() - began_s

    async def scene() -> None:
        async with working(url, handler("save", save, context=True)) as at:
            job = await at.client.enqueue("save", policy=SHORT)
            ended = await at.ended(job)
            types = [event.type for event in await at.client.history(job.id)]

            assert ended.checkpoint > 0
            assert 1 <= types.count("job_heartbeat") <= ended.result / SHORT.heartbeat_s + 3
            assert "job_lease_renewed" not in types

    on_loop(scene)


def test_flushed_checkpoint_is_durable_when_save_returns(url: str) -> None:
    kept: list[Any] = []

    async def scene() -> None:
        async with working(
            url,
            handler("thread", _save_on_thread, "thread", context=True),
            handler("loop", _save_on_loop, context=True),
            handler("process", deeds.double_on_a_loop, "process", context=True),
        ) as at:
            for kind in ("thread", "loop", "process"):
                job = await at.done(kind, {"number": 5} if kind == "process" else None, lifecycle="contract")
                kept.append((job.state, job.checkpoint))
                heartbeats = [event for event in await at.client.history(job.id) if event.verb == "renew"]
                assert len(heartbeats) == 1

            assert kept == [("succeeded", 5)] * 3

    on_loop(scene)


def _save_on_thread(ctx: Context) -> None:
    ctx.save(5, flush=True)


async def _save_on_loop(ctx: Context) -> None:
    with pytest.raises(InvalidArgument, match="event loop"):
        ctx.save(5, flush=True)
    await ctx.asave(5, flush=True)


def _called(call: Any) -> str:
    try:
        call()
    except InvalidArgument as refused:
        return f"{refused.code}: {refused}"
    return "let through"


def test_call_that_would_block_the_loop_names_the_one_to_await(url: str) -> None:
    async def slip(ctx: Context) -> list[str]:
        calls = (
            lambda: ctx.save(1, flush=True), lambda: ctx.artifact("a", "s3://a"), ctx.complete, ctx.children,
            ctx.wait_children, lambda: ctx.transaction().__enter__(),
        )  # fmt: skip
        return [_called(call) for call in calls]

    async def scene() -> None:
        async with working(url, handler("slip", slip, context=True)) as at:
            said = (await at.done("slip")).result
            twins = ("asave", "aartifact", "acomplete", "achildren", "await_children", "atransaction")

            for refused, twin in zip(said, twins, strict=True):
                assert refused.startswith("blocking_call: ")
                assert f"await ctx.{twin}(" in refused

    on_loop(scene)


def test_handler_waits_for_its_children(url: str) -> None:
    async def scene() -> None:
        async with working(url, handler("parent", lambda: None, context=True), handler("child", _child)) as at:

            async def parent(ctx: Context) -> list[Any]:
                for number in range(3):
                    await at.client.enqueue("child", {"number": number}, parent_job_id=ctx.job.id)
                children = await ctx.await_children()
                return sorted(child.result for child in children)

            at.worker.handlers["parent"] = handler("parent", parent, context=True)
            job = await at.done("parent")

            assert job.result == [0, 10, 20]

    on_loop(scene)


async def _child(number: int) -> int:
    await asyncio.sleep(0.05)
    return 10 * number


def test_pointers_are_resolved_by_what_is_configured(url: str) -> None:
    async def read(ctx: Context) -> list[str]:
        return [ctx.resolve(), ctx.resolve("mem://b")]

    async def scene() -> None:
        async with working(url, handler("read", read, context=True)) as at:
            unresolved = await at.done("read", context_ptr="mem://a", policy=Policy(retry=Retry.never()))
            at.worker._resolver = str.upper
            job = await at.done("read", context_ptr="mem://a")

            assert unresolved.error is not None
            assert "no resolver is configured" in unresolved.error.message
            assert job.result == ["MEM://A", "MEM://B"]

    on_loop(scene)


@pytest.mark.requirement("STD-22")
@pytest.mark.parametrize("isolation", ["async", "thread", "process"])
def test_artifacts_are_registered_and_final_on_success(url: str, isolation: Isolation) -> None:
    async def emit(ctx: Context) -> None:
        await ctx.aartifact("page.png", "s3://b/page.png", size=7, digest="d")

    async def scene() -> None:
        function = emit if isolation == "async" else deeds.emit
        async with working(url, handler("emit", function, isolation, context=True)) as at:
            job = await at.done("emit", lifecycle="contract")

            (artifact,) = await at.client.artifacts(job.id)
            assert (artifact.name, artifact.pointer, artifact.size, artifact.digest, artifact.status) == (
                "page.png", "s3://b/page.png", 7, "d", "final",
            )  # fmt: skip

    on_loop(scene)


def test_handler_that_lost_its_job_cannot_register_or_save_anything_more(url: str) -> None:
    met: list[str] = []

    async def linger(ctx: Context) -> None:
        await resume.wait()
        for say in (ctx.aartifact("a", "p"), ctx.asave(1, flush=True), ctx.acomplete(1)):
            try:
                await say
            except LeaseLost:
                met.append("LeaseLost")

    async def scene() -> None:
        async with working(url, handler("linger", linger, context=True), look_s=60) as at:
            job = await at.client.enqueue("linger")
            await until(lambda: bool(at.worker.live))
            await at.client.dead_letter(job.id, role="operator")
            resume.set()
            await until(lambda: not at.worker.live)

            assert met == ["LeaseLost"] * 3

    resume = asyncio.Event()
    on_loop(scene)
