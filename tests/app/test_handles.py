"""Handles: what became of a job, how it is waited for and stopped, and the twins that are awaited."""

import asyncio
import inspect
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from detent import (
    App,
    InvalidArgument,
    JobFailed,
    JobHandle,
    NotFound,
    PermanentError,
    WaitTimedOut,
    await_all,
    wait_all,
)
from detent.testing import Trial

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@dataclass
class Found:
    at: datetime
    words: tuple[str, ...]


def declare(app: App) -> Any:
    @app.job
    def look(word: str) -> Found:
        if word == "nothing":
            raise PermanentError("there is nothing", code="empty", reason_code="validation_failed")
        return Found(NOON, (word,))

    return look


def test_result_is_of_the_type_that_the_function_returns(jobs: Trial) -> None:
    handle = declare(jobs.app).enqueue("a")
    jobs.drain()

    assert handle.result() == Found(NOON, ("a",))
    assert handle.job().result == {"at": "2026-11-16T12:00:00Z", "words": ["a"]}
    assert handle.state == "succeeded"


def test_result_of_a_handle_that_knows_no_type_is_json(jobs: Trial) -> None:
    handle = declare(jobs.app).enqueue("a")
    jobs.drain()

    assert jobs.app.handle(handle.id).result() == {"at": "2026-11-16T12:00:00Z", "words": ["a"]}


def test_result_of_a_job_made_elsewhere_is_typed_by_its_function(jobs: Trial) -> None:
    look = declare(jobs.app)
    made = look.enqueue("a")
    jobs.drain()

    assert look.handle(made.id).result() == Found(NOON, ("a",))


def test_result_of_a_failed_job_is_its_error(jobs: Trial) -> None:
    handle = declare(jobs.app).enqueue("nothing")
    jobs.drain()

    with pytest.raises(JobFailed) as failed:
        handle.result()

    assert (failed.value.code, failed.value.job_id, failed.value.state) == ("job_failed", handle.id, "failed")
    assert (failed.value.error.type, failed.value.error.message) == ("PermanentError", "there is nothing")
    assert "PermanentError: there is nothing" in str(failed.value)


def test_result_of_a_cancelled_job_says_so(app: App) -> None:
    handle = declare(app).enqueue("a")
    handle.cancel(reason="wrong word", actor="ann")

    with pytest.raises(JobFailed) as failed:
        handle.result()

    assert (failed.value.code, failed.value.error) == ("job_cancelled", None)


def test_wait_gives_the_job_however_it_ended(jobs: Trial) -> None:
    look = declare(jobs.app)
    good, bad = look.enqueue("a"), look.enqueue("nothing")
    jobs.drain()

    assert [good.wait().outcome, bad.wait(timeout_s=0).outcome] == ["success", "failure"]


def test_wait_that_takes_too_long_says_where_the_job_is(app: App) -> None:
    handle = declare(app).enqueue("a")

    with pytest.raises(WaitTimedOut) as late:
        handle.result(timeout_s=0)

    assert late.value.state == "queued"


def test_wait_hears_of_an_end_that_comes_later(app: App) -> None:
    handle = declare(app).enqueue("a")
    heard: list[Any] = []
    waiting = threading.Thread(target=lambda: heard.append(handle.result(timeout_s=30)))

    waiting.start()
    client = app.client()
    (job,) = client.claim(worker="w1", start=True)
    client.complete(job.id, worker="w1", attempt=1, result={"at": "2026-11-16T12:00:00Z", "words": ["a"]})
    waiting.join()

    assert heard == [Found(NOON, ("a",))]


def test_cancel_is_soft_unless_it_is_to_be_hard(app: App) -> None:
    look = declare(app)
    handle = look.enqueue("a")
    app.client().claim(worker="w1", start=True)

    softly = handle.cancel()
    hard = handle.cancel("hard")

    assert (softly.state, softly.is_cancel_requested, hard.state) == ("running", True, "cancelled")
    assert [event.verb for event in handle.history()] == ["enqueue", "claim", "start", "request_cancel", "cancel"]


def test_handle_of_a_job_that_is_not_there_is_found_out_when_it_is_asked(app: App) -> None:
    handle = app.handle("nobody")

    with pytest.raises(NotFound):
        handle.job()


# -- children ----------------------------------------------------------------------------------------------------------


def test_handler_makes_children_and_whoever_made_it_can_wait_for_them(jobs: Trial) -> None:
    @jobs.app.job
    def page(number: int) -> int:
        return number * 10

    @jobs.app.job
    def book(pages: int) -> list[str]:
        handles = page.enqueue_many(page.call(n) for n in range(pages))
        return [handle.id for handle in handles if isinstance(handle, JobHandle)]

    handle = book.enqueue(3)
    jobs.drain()

    children = handle.children()
    assert [child.id for child in children] == handle.result()
    assert [job.result for job in wait_all(children, timeout_s=0)] == [0, 10, 20]


def test_waiting_for_all_has_one_limit_for_all_of_them(jobs: Trial) -> None:
    look = declare(jobs.app)
    handles = [look.enqueue("a"), look.enqueue("nothing")]

    with pytest.raises(WaitTimedOut):
        wait_all(handles, timeout_s=0)
    jobs.drain()

    assert [job.outcome for job in wait_all(handles)] == ["success", "failure"]
    with pytest.raises(InvalidArgument, match="timeout_s"):
        wait_all(handles, timeout_s=-1)


# -- twins -------------------------------------------------------------------------------------------------------------

TWINS = {
    "job": "ajob", "wait": "await_end", "result": "aresult", "cancel": "acancel", "history": "ahistory",
    "children": "achildren",
}  # fmt: skip


@pytest.mark.parametrize(("blocking", "awaited"), TWINS.items())
def test_every_method_has_a_twin_with_its_signature(blocking: str, awaited: str) -> None:
    twin, verb = getattr(JobHandle, blocking), getattr(JobHandle, awaited)

    assert inspect.signature(twin) == inspect.signature(verb)
    assert inspect.iscoroutinefunction(verb)
    assert twin.__doc__ == verb.__doc__


def test_twins_do_the_same_on_an_event_loop(jobs: Trial) -> None:
    look = declare(jobs.app)

    async def all_of_it() -> list[Any]:
        handle = await look.aenqueue("a")
        before = await handle.astate()
        await jobs.adrain()
        other = await look.aenqueue("b")
        cancelled = await other.acancel()
        (ended, _) = await await_all([handle, other])
        events = await handle.ahistory()
        return [before, await handle.aresult(), cancelled.state, ended.state, len(events), await handle.achildren()]

    assert asyncio.run(all_of_it()) == ["queued", Found(NOON, ("a",)), "cancelled", "succeeded", 4, []]


def test_blocking_call_on_the_thread_of_a_running_loop_is_refused(app: App) -> None:
    look = declare(app)
    handle = look.enqueue("a")

    async def ask(what: Any) -> None:
        what()

    calls = [handle.job, lambda: handle.state, handle.result, lambda: look.enqueue("a"), app.client, app.close]
    for call in [*calls, lambda: look.enqueue_many([look.call("a")]), lambda: wait_all([handle])]:
        with pytest.raises(InvalidArgument) as refused:
            asyncio.run(ask(call))
        assert refused.value.code == "blocking_call"
    assert app.client().count() == {(): 1}
