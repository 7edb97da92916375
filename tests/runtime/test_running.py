"""Handlers run, on a loop, on a thread and in a process of their own; what they come to is on the record."""

import asyncio
import threading
from contextvars import ContextVar
from typing import Any

import pytest
from msgspec.structs import replace

from detent import InvalidArgument, Policy, Retry, connect
from detent.errors import LeaseConflictError, PermanentError, TransientError
from detent.kernel import Error
from detent.runtime import Isolation, Worker
from tests.runtime import deeds
from tests.runtime.working import handler, on_loop, working


async def greet(name: str = "you") -> dict[str, str]:
    await asyncio.sleep(0)
    return {"hello": name}


def greet_from_thread(name: str = "you") -> dict[str, str]:
    return {"hello": name, "thread": threading.current_thread().name.partition("-handler")[0]}


def test_async_handler_runs_and_its_result_is_kept(url: str) -> None:
    async def scene() -> None:
        async with working(url, handler("greet", greet)) as at:
            job = await at.done("greet", {"name": "Ada"})

            assert (job.state, job.result, job.attempt, job.owner) == ("succeeded", {"hello": "Ada"}, 1, None)
            history = await at.client.history(job.id)
            assert [event.verb for event in history] == ["enqueue", "claim", "start", "complete"]
            assert {event.worker for event in history[1:]} == {"w"}

    on_loop(scene)


def test_blocking_handler_runs_on_a_thread(url: str) -> None:
    async def scene() -> None:
        async with working(url, handler("greet", greet_from_thread, "thread")) as at:
            job = await at.done("greet", {"name": "Ada"})

            assert job.result == {"hello": "Ada", "thread": "detent"}

    on_loop(scene)


def test_handler_runs_in_a_process_of_its_own(url: str) -> None:
    async def scene() -> None:
        async with working(
            url,
            handler("double", deeds.double, "process"),
            handler("on a loop", deeds.double_on_a_loop, "process", context=True),
        ) as at:
            plain = await at.done("double", {"number": 21})
            async_ = await at.done("on a loop", {"number": 4})

            assert plain.result == 42
            assert async_.result["doubled"] == 8
            assert async_.checkpoint == 4

    on_loop(scene)


def test_many_jobs_of_all_isolations_run_at_once(url: str) -> None:
    async def scene() -> None:
        handlers = [
            handler("loop", greet),
            handler("thread", greet_from_thread, "thread"),
            handler("process", deeds.double, "process"),
        ]
        payloads: dict[str, Any] = {"loop": {}, "thread": {}, "process": {"number": 1}}
        async with working(url, *handlers, children=2) as at:
            items = [{"kind": kind, "payload": payloads[kind]} for kind in payloads for _ in range(40)]
            jobs = [job for job in await at.client.enqueue_many(items) if not isinstance(job, Exception)]
            ends = [await at.ended(job) for job in jobs]

            assert {job.state for job in ends} == {"succeeded"}
            assert len(ends) == 120
            assert at.worker.live == {}

    on_loop(scene)


def test_worker_claims_only_kinds_and_queues_it_serves(url: str) -> None:
    async def scene() -> None:
        async with working(url, handler("greet", greet), queues=("ocr",)) as at:
            other_kind = await at.client.enqueue("bill", queue="ocr")
            other_queue = await at.client.enqueue("greet", queue="mail")
            await at.done("greet", queue="ocr")

            assert (await at.client.get(other_kind.id)).state == "queued"
            assert (await at.client.get(other_queue.id)).state == "queued"

    on_loop(scene)


def test_no_more_handlers_run_at_once_than_there_are_slots(url: str) -> None:
    running = 0
    most = 0

    async def count() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.005)
        running -= 1

    async def scene() -> None:
        async with working(url, handler("count", count), concurrency=3) as at:
            made = await at.client.enqueue_many([{"kind": "count"} for _ in range(30)])
            states = {(await at.ended(job)).state for job in made if not isinstance(job, Exception)}

            assert states == {"succeeded"}
            assert most == 3

    on_loop(scene)


def test_context_variables_of_one_handler_are_not_seen_by_the_next(url: str) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="none")
    seen = []

    async def leave(word: str) -> None:
        seen.append(variable.get())
        variable.set(word)
        await asyncio.sleep(0)

    async def scene() -> None:
        async with working(url, handler("leave", leave), concurrency=1) as at:
            for word in ("one", "two", "three"):
                await at.done("leave", {"word": word})

            assert seen == ["none", "none", "none"]

    on_loop(scene)


@pytest.mark.requirement("STD-20")
def test_errors_are_retried_or_final_by_their_class_or_the_classes_it_comes_from(url: str) -> None:
    class Teapot(PermanentError):
        pass

    class Flaky(OSError):
        pass

    errors: dict[str, Exception] = {
        "final": PermanentError("no", code="E1", stage="fetch"),
        "subclass": Teapot("short and stout"),
        "mapped": KeyError("k"),
        "transient": TransientError("later"),
        "conflict": LeaseConflictError("taken"),
        "unmapped": Flaky("again"),
    }

    async def fail(which: str) -> None:
        raise errors[which]

    async def scene() -> None:
        policy = Policy(retry=Retry(max_attempts=2, base_s=0.0), error_classes={"LookupError": "ValidationError"})
        async with working(url, handler("fail", fail)) as at:
            ends = {which: await at.done("fail", {"which": which}, policy=policy) for which in errors}

            assert {which: job.state for which, job in ends.items()} == {
                "final": "failed",
                "subclass": "failed",
                "mapped": "failed",
                "transient": "dead_lettered",
                "conflict": "dead_lettered",
                "unmapped": "dead_lettered",
            }
            assert {which: job.failures for which, job in ends.items()} == {
                "final": 1, "subclass": 1, "mapped": 1, "transient": 2, "conflict": 2, "unmapped": 2,
            }  # fmt: skip
            told = {which: job.error for which, job in ends.items()}
            assert told == {
                "final": Error("PermanentError", "no", "E1", "engine", "fetch"),
                "subclass": Error("PermanentError", "Teapot: short and stout", None, "engine", "exec"),
                "mapped": Error("LookupError", "KeyError: 'k'", None, "validation", "exec"),
                "transient": Error("TransientError", "later", None, "engine", "exec", "exhausted_retries"),
                "conflict": Error("LeaseConflictError", "taken", None, "engine", "exec", "exhausted_retries"),
                "unmapped": Error("Flaky", "again", None, "engine", "exec", "exhausted_retries"),
            }

    on_loop(scene)


@pytest.mark.parametrize("isolation", ["async", "thread", "process"])
def test_failure_in_any_isolation_is_recorded_and_retried(url: str, isolation: Isolation) -> None:
    async def fail_on_loop(message: str) -> None:
        deeds.fail(message)

    async def scene() -> None:
        function = fail_on_loop if isolation == "async" else deeds.fail
        async with working(url, handler("fail", function, isolation)) as at:
            policy = Policy(retry=Retry(max_attempts=2, base_s=0.0))
            job = await at.done("fail", {"message": "lost it"}, policy=policy)

            assert (job.state, job.failures, job.attempt) == ("dead_lettered", 2, 2)
            assert job.error is not None
            assert (job.error.type, job.error.message) == ("LookupError", "lost it")
            assert at.seen.lines == ["failed fail LookupError"] * 2

    on_loop(scene)


@pytest.mark.parametrize("isolation", ["async", "thread", "process"])
def test_payload_that_does_not_fit_is_a_final_failure_at_the_input(url: str, isolation: Isolation) -> None:
    async def scene() -> None:
        function = greet if isolation == "async" else deeds.double
        async with working(url, handler("greet", function, isolation)) as at:
            job = await at.done("greet", ["no", "object"])

            assert job.state == "failed"
            assert job.error is not None
            assert (job.error.type, job.error.stage) == ("ValidationError", "input")

    on_loop(scene)


def test_result_that_json_cannot_hold_is_a_final_failure_at_the_output(url: str) -> None:
    async def result(kind: str) -> object:
        return {"set": {1}, "bytes": b"x", "huge": "x" * 2_000_000}[kind]

    async def scene() -> None:
        async with working(url, handler("result", result)) as at:
            ends = [await at.done("result", {"kind": kind}) for kind in ("set", "bytes", "huge")]

            told = [(job.error.type, job.error.stage, job.error.code) for job in ends if job.error is not None]
            assert told == [
                ("PermanentError", "output", "no_result"),
                ("PermanentError", "output", "value_not_json"),
                ("PermanentError", "output", "value_too_large"),
            ]

    on_loop(scene)


def test_result_that_cannot_leave_its_process_is_a_final_failure(url: str) -> None:
    async def scene() -> None:
        async with working(url, handler("unsendable", deeds.unsendable, "process")) as at:
            job = await at.done("unsendable")

            assert job.error is not None
            assert (job.state, job.error.code, job.error.stage) == ("failed", "result_not_sent", "output")

    on_loop(scene)


def test_handler_that_exits_or_cancels_itself_fails_and_the_worker_goes_on(url: str) -> None:
    async def leave(how: str) -> None:
        if how == "exit":
            raise SystemExit(3)
        if how == "cancel":
            raise asyncio.CancelledError

    def leave_thread(how: str) -> None:
        raise SystemExit(3)

    async def scene() -> None:
        once = Policy(retry=Retry.never())
        async with working(url, handler("leave", leave), handler("thread", leave_thread, "thread")) as at:
            ends = [await at.done("leave", {"how": how}, policy=once) for how in ("exit", "cancel", "stay")]
            thread = await at.done("thread", {"how": "exit"}, policy=once)

            assert [job.state for job in ends] == ["dead_lettered", "dead_lettered", "succeeded"]
            assert thread.error is not None
            assert thread.error.type == "SystemExit"

    on_loop(scene)


def test_worker_that_has_no_way_to_run_a_handler_is_refused() -> None:
    known = handler("k", greet, "process")
    with pytest.raises(InvalidArgument, match="'k' has no address"):
        Worker(connect, [replace(known, address=None)])
    with pytest.raises(InvalidArgument, match="at least one"):
        Worker(connect, [])
    with pytest.raises(InvalidArgument, match="two handlers"):
        Worker(connect, [known, known])
