"""What a drain does is what a worker would do: results, failures, retries, children, compensation."""

import asyncio
from typing import Any

import pytest

from detent import Context, InvalidArgument, PermanentError, Retry, TransientError
from detent.app import current
from detent.testing import Stuck, Trial
from detent.testing.trial import trial
from tests.testing.trial.conftest import Drain

DONE = ("queued", "assigned", "running", "succeeded")


def test_job_is_run_and_its_result_is_typed(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job
    def pair(name: str) -> tuple[str, int]:
        return name, len(name)

    handle = pair.enqueue("ann")
    (played,) = drain()

    assert handle.result() == ("ann", 3)
    assert (played.kind, played.attempt, played.came_to) == ("pair", 1, "success")
    jobs.assert_path(handle, *DONE)


def test_coroutine_is_run_like_any_other_handler(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job
    async def greet(name: str) -> str:
        await asyncio.sleep(0)
        return f"hello {name}"

    handle = greet.enqueue("ann")
    drain()

    assert handle.result() == "hello ann"


def test_what_is_made_is_not_run_before_the_drain(jobs: Trial) -> None:
    seen: list[str] = []

    @jobs.app.job
    def note(text: str) -> None:
        seen.append(text)

    note.enqueue("a")
    before = list(seen)
    jobs.drain()

    assert (before, seen) == ([], ["a"])


def test_jobs_are_run_in_the_order_of_their_priority_and_age(jobs: Trial, drain: Drain) -> None:
    seen: list[str] = []

    @jobs.app.job
    def note(text: str) -> None:
        seen.append(text)

    for text, priority in (("a", 0), ("b", 5), ("c", 0)):
        note.enqueue(text, priority=priority)
    drain()

    assert seen == ["b", "a", "c"]


def test_every_queue_is_served_unless_some_are_named(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job(queue="slow")
    def slow() -> None: ...

    @jobs.app.job
    def quick() -> None: ...

    slow.enqueue()
    quick.enqueue(queue="elsewhere")
    named = drain(queues=["slow"])
    rest = drain()

    assert [each.kind for each in named] == ["slow"]
    assert [each.kind for each in rest] == ["quick"]


def test_delayed_job_waits_for_the_clock(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job
    def remind() -> None: ...

    handle = remind.enqueue(delay_s=3600)
    early = drain()
    jobs.clock.advance(3600)
    late = drain()

    assert (early, len(late)) == ([], 1)
    assert handle.job().started_at == jobs.clock.now


def test_failure_is_tried_again_when_its_backoff_is_over(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job(retry=Retry(max_attempts=3, base_s=10, factor=3))
    def fetch() -> None:
        raise ConnectionError("no route")

    handle, began = fetch.enqueue(), jobs.clock.now
    played = drain(until="idle")

    assert [each.came_to for each in played] == ["retried", "retried", "failure"]
    assert (jobs.clock.now - began).total_seconds() == 40
    jobs.assert_path(handle, "queued", ..., "running", "queued", ..., "running", "queued", ..., "dead_lettered")


def test_time_passes_step_by_step_and_what_comes_due_runs_at_its_moment(jobs: Trial) -> None:
    began, seen = jobs.clock.now, list[float]()

    @jobs.app.job(retry=Retry(max_attempts=5, base_s=10))
    def fetch() -> None:
        seen.append((jobs.clock.now - began).total_seconds())
        raise TransientError("busy")

    fetch.enqueue(delay_s=5)
    jobs.run_for(40)

    assert seen == [5, 15, 35]
    assert (jobs.clock.now - began).total_seconds() == 40


def test_drain_until_a_job_has_ended_leaves_what_comes_later(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job
    def remind(text: str) -> str:
        return text

    first, second = remind.enqueue("a", delay_s=10), remind.enqueue("b", delay_s=20)
    drain(until=first)

    assert (first.state, second.state) == ("succeeded", "queued")


def test_drain_until_a_job_that_nobody_runs_has_ended_says_so(jobs: Trial, drain: Drain) -> None:
    made = jobs.client.enqueue("unknown")

    with pytest.raises(Stuck, match=f"job {made.id} is 'queued', and nothing is due any more"):
        drain(until=jobs.app.handle(made.id))


def test_job_that_makes_itself_again_for_ever_is_noticed(jobs: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "ATTEMPTS_MAX", 5)

    @jobs.app.job
    def again() -> None:
        again.enqueue()

    again.enqueue()

    with pytest.raises(Stuck, match=r"5 attempts in one drain, and no end of it; the last was .*again"):
        jobs.drain()


@pytest.mark.parametrize("until", ["soon", None, 5])
def test_drain_until_something_else_is_refused(jobs: Trial, until: Any) -> None:
    with pytest.raises(InvalidArgument, match="give 'due', 'idle' or a handle"):
        jobs.drain(until)


def test_children_are_run_while_their_parent_waits_for_them(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job
    async def page(number: int) -> int:
        return number * 10

    @jobs.app.job
    def book(ctx: Context, pages: int) -> list[int]:
        for number in range(pages):
            page.enqueue(number)
        return sorted(child.result for child in ctx.wait_children())

    @jobs.app.job
    async def shelf(books: int) -> list[list[int]]:
        handles = [await book.aenqueue(2) for _ in range(books)]
        return list(await asyncio.gather(*(handle.aresult() for handle in handles)))

    handle = shelf.enqueue(2)
    played = drain()

    assert handle.result() == [[0, 10], [0, 10]]
    assert [each.kind for each in played] == ["page", "page", "page", "page", "book", "book", "shelf"]


def test_parent_keeps_its_lease_while_a_child_takes_its_time(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job(retry=Retry(max_attempts=2, base_s=600, max_s=600))
    def page() -> str:
        return "read"

    @jobs.app.job
    def book() -> str:
        return page.enqueue().result()

    handle = book.enqueue()
    with jobs.failing(page):
        drain()

    assert handle.result() == "read"
    assert handle.job().attempt == 1


def test_handler_that_waits_for_what_will_never_come_is_told_of_in_the_test(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job
    def hope() -> None:
        jobs.client.wait(jobs.client.enqueue("unknown").id)

    hope.enqueue()

    with pytest.raises(Stuck, match="nothing is due any more, now or later"):
        drain()


def test_whoever_waits_for_a_result_lets_the_jobs_run(jobs: Trial) -> None:
    @jobs.app.job
    def remind() -> str:
        return "now"

    assert remind.enqueue(delay_s=60).result() == "now"


def test_test_that_waits_with_a_timeout_for_what_nobody_runs_has_it(jobs: Trial) -> None:
    made = jobs.client.enqueue("unknown")

    with pytest.raises(TimeoutError):
        jobs.client.wait(made.id, timeout_s=0.01)


@pytest.mark.requirement("STD-19")
def test_work_that_failed_is_undone(jobs: Trial, drain: Drain) -> None:
    undone: list[str] = []

    @jobs.app.job
    def refund(order: str) -> None:
        undone.append(order)

    @jobs.app.job(compensate=refund)
    def charge(order: str) -> None:
        raise PermanentError("card expired")

    handle = charge.enqueue("o1")
    drain()

    assert undone == ["o1"]
    assert jobs.assert_enqueued(refund, order="o1", parent_job_id=handle.id).state == "succeeded"


def test_checkpoint_goes_to_the_next_attempt(jobs: Trial, drain: Drain) -> None:
    pages: list[int] = []

    @jobs.app.job(retry=Retry(max_attempts=3, base_s=1))
    def read(ctx: Context) -> int:
        for page in range(ctx.checkpoint or 0, 4):
            pages.append(page)
            ctx.save(page + 1)
            if len(pages) == 2:
                raise TransientError("paper jam")
        return ctx.attempt

    handle = read.enqueue()
    drain(until="idle")

    assert handle.result() == 2
    assert pages == [0, 1, 2, 3]


def test_payload_that_the_function_does_not_take_is_refused_as_a_worker_does(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job
    def weigh(grams: int) -> None: ...

    made = jobs.client.enqueue("weigh", {"grams": "many"})
    drain()
    error = jobs.client.get(made.id).error

    assert error is not None
    assert (error.type, error.stage) == ("ValidationError", "input")


def test_handler_declared_for_a_process_runs_here(jobs: Trial, drain: Drain) -> None:
    handle = jobs.app.job(isolation="process")(_in_a_process).enqueue("here")
    drain()

    assert handle.result() == "here"


def _in_a_process(where: str) -> str:
    return where


def test_job_that_is_made_in_a_handler_is_its_child(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job
    def inner() -> str:
        spec = current()
        return "" if spec is None else spec.parent_job_id or ""

    @jobs.app.job
    async def outer() -> None:
        await inner.aenqueue()

    parent = outer.enqueue()
    drain()

    assert jobs.assert_enqueued(inner, parent_job_id=parent.id).result() == parent.id


@pytest.mark.requirement("ALL-18")
def test_jobs_of_every_tenant_they_are_declared_for_are_run(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job(tenant="acme")
    def theirs() -> str:
        return "acme's"

    handle = theirs.enqueue()
    drain()

    assert handle.result() == "acme's"


def test_progress_and_artifacts_are_on_the_record(jobs: Trial, drain: Drain) -> None:
    @jobs.app.job
    async def render(ctx: Context) -> None:
        ctx.progress(0.5, "half")
        await ctx.aartifact("page", "s3://pages/1", size=3)

    handle = render.enqueue()
    drain()

    assert [each.pointer for each in jobs.client.artifacts(handle.id)] == ["s3://pages/1"]
    progress = handle.job().progress
    assert progress is not None
    assert progress.message == "half"


def test_pointer_is_resolved_as_the_app_says(jobs: Trial, drain: Drain) -> None:
    jobs.app.resolver = {"s3://a": "content"}.__getitem__

    @jobs.app.job
    def read(ctx: Context) -> Any:
        return ctx.resolve()

    handle = read.enqueue(context_ptr="s3://a")
    drain()

    assert handle.result() == "content"
