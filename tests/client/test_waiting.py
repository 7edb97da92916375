"""`client.wait`: until a job has ended, whoever ends it; and no longer than asked."""

import asyncio
from collections.abc import Iterator
from threading import Thread

import pytest

from detent.client import SyncClient, connect
from detent.errors import InvalidArgument, NotFound, WaitTimedOut
from tests.client.world import World

PATIENCE_S = 30.0


@pytest.fixture
def client(url: str) -> Iterator[SyncClient]:
    with connect(url) as opened:
        yield opened


def test_ended_job_is_returned_at_once(fresh: World) -> None:
    fresh.prepare("ended")

    job = fresh.blocking.wait("ended", timeout_s=0)

    assert (job.state, job.result) == ("succeeded", {"pages": 3})


@pytest.mark.parametrize(
    ("end", "outcome"),
    [("complete", "success"), ("fail", "failure"), ("cancel", "cancelled")],
)
def test_end_made_by_another_client_is_noticed(client: SyncClient, url: str, end: str, outcome: str) -> None:
    client.enqueue("scan", job_id="42")
    client.claim(worker="w1", start=True)
    how = {"error": {"type": "PermanentError"}} if end == "fail" else {"mode": "hard"} if end == "cancel" else {}
    who = {} if end == "cancel" else {"worker": "w1", "attempt": 1}

    def work() -> None:
        with connect(url) as other:
            getattr(other, end)("42", **who, **how)

    thread = Thread(target=work)
    thread.start()
    job = client.wait("42", timeout_s=PATIENCE_S)
    thread.join()

    assert (job.is_ended, job.outcome) == (True, outcome)


def test_moves_that_do_not_end_the_job_do_not_end_the_wait(client: SyncClient) -> None:
    client.enqueue("scan", job_id="42")
    client.enqueue("scan", job_id="other")
    seen: list[str] = []

    def wait() -> None:
        seen.append(client.wait("42", timeout_s=PATIENCE_S).state)

    thread = Thread(target=wait)
    thread.start()
    client.cancel("other")
    client.claim(worker="w1", start=True)
    client.renew("42", worker="w1", attempt=1)
    assert seen == []
    client.complete("42", worker="w1", attempt=1)
    thread.join()

    assert seen == ["succeeded"]


def test_many_waits_share_an_event_loop(url: str) -> None:
    async def main() -> list[str]:
        async with connect(url) as client:
            ids = [f"job-{number}" for number in range(20)]
            await client.enqueue_many([{"kind": "scan", "job_id": job_id} for job_id in ids])
            waits = [asyncio.create_task(client.wait(job_id, timeout_s=PATIENCE_S)) for job_id in ids]
            jobs = await client.claim(worker="w1", limit=20, start=True)
            await client.complete_many([{"job_id": job.id, "worker": "w1", "attempt": 1} for job in jobs])
            return [job.state for job in await asyncio.gather(*waits)]

    assert asyncio.run(main()) == ["succeeded"] * 20


def test_wait_that_is_cancelled_leaves_the_client_usable(url: str) -> None:
    async def main() -> str:
        async with connect(url) as client:
            await client.enqueue("scan", job_id="42")
            task = asyncio.create_task(client.wait("42"))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return (await client.cancel("42")).state

    assert asyncio.run(main()) == "cancelled"


def test_time_that_is_over_is_an_error_that_says_where_the_job_is(fresh: World) -> None:
    fresh.prepare("running")

    with pytest.raises(WaitTimedOut, match=r"job running is still 'running' after 0\.01 s") as caught:
        fresh.blocking.wait("running", timeout_s=0.01)

    assert isinstance(caught.value, TimeoutError)
    assert (caught.value.code, caught.value.job_id, caught.value.state) == ("wait_timed_out", "running", "running")


def test_job_that_is_not_there_is_not_waited_for(fresh: World) -> None:
    with pytest.raises(NotFound):
        fresh.blocking.wait("42", timeout_s=PATIENCE_S)


@pytest.mark.parametrize("timeout_s", [-1, float("nan"), "soon"])
def test_time_that_cannot_be_meant_is_refused(fresh: World, timeout_s: float) -> None:
    fresh.prepare("waiting")

    with pytest.raises(InvalidArgument):
        fresh.blocking.wait("waiting", timeout_s=timeout_s)


def test_job_that_was_purged_is_not_waited_for(client: SyncClient) -> None:
    client.enqueue("scan", job_id="42")
    client.cancel("42")
    client.purge(["42"])

    with pytest.raises(NotFound):
        client.wait("42")
