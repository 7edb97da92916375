"""Jobs of an app in a real worker: what it declares is what happens."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest

from detent import Job, JobFailed, await_all
from detent.app import JobHandle
from detent.runtime import Settings, Worker
from tests.app import shop

Result = TypeVar("Result")
PATIENCE_S = 60
ORDER = shop.Order(17, ["b", "a"])


@pytest.fixture(autouse=True)
def shop_url(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DETENT_URL", url)
    yield
    shop.app.close()


@asynccontextmanager
async def working() -> AsyncIterator[None]:
    worker = Worker(shop.app.connector(), shop.app.handlers(), settings=Settings(children=1, look_s=0.1, poll_s=0.05))
    run = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        await asyncio.wait_for(run, PATIENCE_S)
        await shop.app.aclose()


def with_a_worker(what: Callable[[], Awaitable[Result]]) -> Result:
    async def whole() -> Result:
        async with working():
            return await what()

    return asyncio.run(whole())


async def ended(handle: JobHandle[object]) -> Job:
    return await handle.await_end(PATIENCE_S)


@pytest.mark.requirement("STD-17", "DSP-11")
def test_handlers_call_each_other_across_isolations_and_the_children_are_theirs() -> None:
    async def both() -> tuple[dict[str, int], list[str | None]]:
        handle = await shop.price.aenqueue(ORDER, correlation_id="c", trace_id="t")
        result = await handle.aresult(timeout_s=PATIENCE_S)
        (child,) = [await each.ajob() for each in await handle.achildren()]
        return result, [child.kind, child.correlation_id, child.trace_id]

    assert with_a_worker(both) == ({"eur": 2, "grams": 200}, ["weigh", "c", "t"])


def test_handler_in_a_process_has_typed_arguments_a_typed_result_and_children() -> None:
    async def pack() -> tuple[shop.Order, list[object]]:
        handle = await shop.pack.aenqueue(ORDER)
        packed = await handle.aresult(timeout_s=PATIENCE_S)
        children = await await_all(await handle.achildren(), timeout_s=PATIENCE_S)
        return packed, [child.result for child in children]

    assert with_a_worker(pack) == (shop.Order(1, ["a", "b"]), [300])


@pytest.mark.requirement("STD-20")
def test_payload_that_the_function_does_not_take_ends_the_job_at_once() -> None:
    async def wrong() -> Job:
        made = await (await shop.app.aclient()).enqueue("weigh", {"order": {"number": "x", "goods": []}})
        return await ended(shop.weigh.handle(made.id))

    job = with_a_worker(wrong)

    assert (job.outcome, job.attempt) == ("failure", 1)
    assert job.error is not None
    assert (job.error.type, job.error.category, job.error.stage) == ("ValidationError", "validation", "input")
    assert "order.number: Expected `int`, got `str`" in job.error.message


@pytest.mark.requirement("STD-20", "STD-05")
@pytest.mark.parametrize(
    ("fault", "attempts", "kind"), [("reset", 1, "ConnectionError"), ("key", 1, "LookupError"), ("other", 3, "OSError")]
)
def test_exception_means_what_the_nearest_of_its_classes_means(fault: str, attempts: int, kind: str) -> None:
    async def fail() -> Job:
        return await ended(await shop.call.aenqueue(fault))

    job = with_a_worker(fail)

    assert (job.outcome, job.attempt) == ("failure", attempts)
    assert job.error is not None
    assert job.error.type == kind


@pytest.mark.requirement("STD-19")
def test_work_that_failed_is_undone_by_the_job_that_was_declared_for_it() -> None:
    async def deliver() -> tuple[JobFailed, str, list[object]]:
        handle = await shop.deliver.aenqueue(17)
        with pytest.raises(JobFailed) as failed:
            await handle.aresult(timeout_s=PATIENCE_S)
        undoing = await await_all(await handle.achildren(), timeout_s=PATIENCE_S)
        return failed.value, handle.id, [job.result for job in undoing]

    failed, job_id, undone = with_a_worker(deliver)

    assert (failed.error.type, failed.error.code, failed.error.stage) == ("PermanentError", "sold_out", "fetch")
    assert failed.error.message == "SoldOut: nothing left"
    assert undone == [job_id]
