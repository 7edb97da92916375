"""Jobs that a handler makes know whose they are, unless they are told otherwise."""

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from detent import App, Job
from detent.app import current
from detent.runtime.current import begin
from tests.app.playing import in_handler


@pytest.fixture
def parent(app: App) -> Job:
    return app.client().enqueue("book", job_id="book", correlation_id="order-17", trace_id="t1")


@pytest.fixture
def page(app: App) -> Any:
    @app.job
    def page(number: int) -> None: ...

    return page


@pytest.mark.requirement("STD-17", "DSP-11")
def test_job_made_in_a_handler_is_a_child_with_the_ids_of_its_parent(page: Any, parent: Job) -> None:
    job = in_handler(parent, lambda: page.enqueue(1).job())

    assert (job.parent_job_id, job.correlation_id, job.trace_id) == ("book", "order-17", "t1")


def test_ids_that_are_given_come_first(page: Any, parent: Job) -> None:
    job = in_handler(parent, lambda: page.enqueue(1, parent_job_id="other", correlation_id="c", trace_id="t2").job())

    assert (job.parent_job_id, job.correlation_id, job.trace_id) == ("other", "c", "t2")


def test_outside_of_a_handler_a_job_is_nobodys(page: Any, parent: Job) -> None:
    in_handler(parent, current)

    job = page.enqueue(1).job()

    assert (job.parent_job_id, job.correlation_id, job.trace_id) == (None, job.id, None)


def test_job_for_another_tenant_keeps_the_trace_and_has_no_parent_there(page: Any, parent: Job) -> None:
    job = in_handler(parent, lambda: page.enqueue(1, tenant="acme").job())

    assert (job.tenant, job.parent_job_id, job.correlation_id, job.trace_id) == ("acme", None, "order-17", "t1")


@pytest.mark.requirement("ALL-18")
def test_child_of_a_tenants_job_is_that_tenants(app: App, page: Any) -> None:
    parent = app.client().enqueue("book", job_id="book", tenant="acme")

    job = in_handler(parent, lambda: page.enqueue(1).job())

    assert (job.tenant, job.parent_job_id) == ("acme", "book")


def test_handlers_that_run_side_by_side_have_their_own(app: App, page: Any) -> None:
    parents = [app.client().enqueue("book", job_id=name) for name in "ab"]

    async def handler(parent: Job) -> tuple[str, str | None]:
        begin(parent.record)
        await asyncio.sleep(0)
        job = await (await page.aenqueue(1)).ajob()
        return parent.id, job.parent_job_id

    async def both() -> list[tuple[str, str | None]]:
        return await asyncio.gather(*map(handler, parents))

    assert asyncio.run(both()) == [("a", "a"), ("b", "b")]


def test_thread_that_runs_in_a_copy_of_the_context_inherits_it(parent: Job) -> None:
    seen: list[str | None] = []

    def look() -> None:
        spec = current()
        seen.append(None if spec is None else spec.id)

    context = in_handler(parent, contextvars.copy_context)
    thread = threading.Thread(target=context.run, args=(look,))
    thread.start()
    thread.join()
    look()

    assert seen == ["book", None]
